// Trains a linear classifier: dual coordinate descent for support vector machines on sparse samples.
//
//   linear [SAMPLES [FEATURES [PASSES [SEED]]]]
//
// The algorithm is that of Hsieh et al., "A dual coordinate descent method for large-scale linear SVM" (ICML
// 2008), for the squared hinge loss. The samples are labelled by a hidden plane. Checks that nearly all of
// them are on the right side.
#include "program.h"

enum { kNonZeros = 24 };

typedef struct {
  uint32_t feature;
  float value;
} Entry;

int main(int argc, char** argv) {
  const uint64_t samples = argument(argc, argv, 1, 60000), features = argument(argc, argv, 2, 20000);
  const uint64_t passes = argument(argc, argv, 3, 8), seed = argument(argc, argv, 4, 1);
  const double cost = 1.0;
  Entry* entries = allocated(samples * kNonZeros, sizeof(Entry));
  signed char* labels = allocated(samples, 1);
  double* alpha = allocated(samples, sizeof(double));
  double* norm = allocated(samples, sizeof(double));
  double* weights = allocated(features, sizeof(double));
  uint32_t* order = allocated(samples, sizeof(uint32_t));

  uint64_t state = seed;
  double* hidden = allocated(features, sizeof(double));
  for (uint64_t f = 0; f < features; ++f) hidden[f] = random_unit(&state) - 0.5;
  for (uint64_t s = 0; s < samples; ++s) {
    double side = 0;
    for (int i = 0; i < kNonZeros; ++i) {
      // Squared, so that some features are frequent and most are rare, as words are.
      const double unit = random_unit(&state);
      Entry* entry = &entries[s * kNonZeros + (uint64_t)i];
      entry->feature = (uint32_t)(unit * unit * (double)features);
      entry->value = (float)random_unit(&state);
      side += hidden[entry->feature] * entry->value;
      norm[s] += (double)entry->value * entry->value;
    }
    labels[s] = side > 0 ? 1 : -1;
    order[s] = (uint32_t)s;
  }

  for (uint64_t pass = 0; pass < passes; ++pass) {
    for (uint64_t n = samples - 1; n > 0; --n) {  // Fisher and Yates
      const uint64_t other = random_below(&state, n + 1);
      const uint32_t kept = order[n];
      order[n] = order[other];
      order[other] = kept;
    }
    for (uint64_t n = 0; n < samples; ++n) {
      const uint64_t s = order[n];
      const Entry* sample = &entries[s * kNonZeros];
      double product = 0;
      for (int i = 0; i < kNonZeros; ++i) product += weights[sample[i].feature] * sample[i].value;
      const double gradient = labels[s] * product - 1 + alpha[s] / (2 * cost);
      if (alpha[s] == 0 && gradient >= 0) continue;
      const double before = alpha[s];
      double after = before - gradient / (norm[s] + 1 / (2 * cost));
      if (after < 0) after = 0;
      alpha[s] = after;
      const double step = (after - before) * labels[s];
      for (int i = 0; i < kNonZeros; ++i) weights[sample[i].feature] += step * sample[i].value;
    }
  }

  uint64_t right = 0;
  for (uint64_t s = 0; s < samples; ++s) {
    double product = 0;
    for (int i = 0; i < kNonZeros; ++i)
      product +=
          weights[entries[s * kNonZeros + (uint64_t)i].feature] * entries[s * kNonZeros + (uint64_t)i].value;
    right += (product > 0) == (labels[s] > 0);
  }
  return finished("linear: samples on the right side", right, right * 10 >= samples * 9);
}

// Sums rows of a table of numbers for each query, as recommendation models reduce embeddings.
//
//   embedding [ROWS [QUERIES [LOOK-UPS [SEED [THREADS]]]]]
//
// A row is 64 numbers, 256 bytes; each query sums LOOK-UPS rows that are drawn beforehand. Rows do not depend
// on each other, so it takes as much bandwidth as a processor can ask for; each thread has its share of the
// queries. Pages are small, so that an interleave of them spreads the table evenly. Checks the sum of all
// that was summed.
#include <cxloom/roi.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "program.h"

enum { kNumbers = 64, kMostThreads = 64 };

typedef struct {
  pthread_t thread;
  uint64_t first, end;
} Share;

static float (*table)[kNumbers];
static float (*sums)[kNumbers];
static uint32_t* wanted;
static uint64_t lookups;
static pthread_barrier_t barrier;

static void reduce(Share share) {
  for (uint64_t i = share.first; i < share.end; ++i) {
    float sum[kNumbers] = {0};
    for (uint64_t k = 0; k < lookups; ++k) {
      const float* row = table[wanted[i * lookups + k]];
      for (int j = 0; j < kNumbers; ++j) sum[j] += row[j];
    }
    for (int j = 0; j < kNumbers; ++j) sums[i][j] = sum[j];
  }
}

static void* work(void* given) {
  pthread_barrier_wait(&barrier);  // all are there
  pthread_barrier_wait(&barrier);  // the marked part begins
  reduce(*(const Share*)given);
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(int argc, char** argv) {
  const uint64_t rows = argument(argc, argv, 1, 30000), queries = argument(argc, argv, 2, 1000);
  lookups = argument(argc, argv, 3, 57);
  uint64_t state = argument(argc, argv, 4, 1);
  const uint64_t threads = argument(argc, argv, 5, 1);
  if (threads > kMostThreads) {
    fprintf(stderr, "%s: at most %d threads\n", argv[0], kMostThreads);
    return 2;
  }
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  table = allocated(rows, sizeof(*table));
  for (uint64_t i = 0; i < rows; ++i)
    for (int j = 0; j < kNumbers; ++j) table[i][j] = (float)(i % 16);
  wanted = allocated(queries * lookups, sizeof(uint32_t));
  uint64_t right = 0;
  for (uint64_t i = 0; i < queries * lookups; ++i) {
    wanted[i] = (uint32_t)random_below(&state, rows);
    right += wanted[i] % 16 * kNumbers;
  }
  sums = allocated(queries, sizeof(*sums));
  for (uint64_t i = 0; i < queries; ++i) sums[i][0] = 1;  // so that its pages are there before

  Share shares[kMostThreads];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (uint64_t t = 0; t < threads; ++t) {
    shares[t].first = queries * t / threads;
    shares[t].end = queries * (t + 1) / threads;
    if (t > 0) pthread_create(&shares[t].thread, NULL, work, &shares[t]);
  }
  if (threads > 1) pthread_barrier_wait(&barrier);
  cxloom_roi_begin();
  if (threads > 1) pthread_barrier_wait(&barrier);
  reduce(shares[0]);
  if (threads > 1) pthread_barrier_wait(&barrier);
  cxloom_roi_end();
  for (uint64_t t = 1; t < threads; ++t) pthread_join(shares[t].thread, NULL);

  double whole = 0;  // small whole numbers are exact
  for (uint64_t i = 0; i < queries; ++i)
    for (int j = 0; j < kNumbers; ++j) whole += sums[i][j];
  return finished("embedding: sum of all rows", (uint64_t)whole, whole == (double)right);
}

// Sums rows of a table of numbers for each query, as recommendation models reduce embeddings.
//
//   embedding [ROWS [QUERIES [LOOK-UPS [SEED]]]]
//
// A row is 64 numbers, 256 bytes; each query sums LOOK-UPS rows that are drawn beforehand. Rows do not depend
// on each other, so it takes as much bandwidth as a processor can ask for. Pages are small, so that an
// interleave of them spreads the table evenly. Checks the sum of all that was summed.
#include <cxloom/roi.h>
#include <sys/prctl.h>

#include "program.h"

enum { kNumbers = 64 };

int main(int argc, char** argv) {
  const uint64_t rows = argument(argc, argv, 1, 30000), queries = argument(argc, argv, 2, 1000);
  const uint64_t lookups = argument(argc, argv, 3, 57);
  uint64_t state = argument(argc, argv, 4, 1);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  float (*table)[kNumbers] = allocated(rows, sizeof(*table));
  for (uint64_t i = 0; i < rows; ++i)
    for (int j = 0; j < kNumbers; ++j) table[i][j] = (float)(i % 16);
  uint32_t* wanted = allocated(queries * lookups, sizeof(uint32_t));
  uint64_t right = 0;
  for (uint64_t i = 0; i < queries * lookups; ++i) {
    wanted[i] = (uint32_t)random_below(&state, rows);
    right += wanted[i] % 16 * kNumbers;
  }
  float (*sums)[kNumbers] = allocated(queries, sizeof(*sums));
  for (uint64_t i = 0; i < queries; ++i) sums[i][0] = 1;  // so that its pages are there before

  cxloom_roi_begin();
  for (uint64_t i = 0; i < queries; ++i) {
    float sum[kNumbers] = {0};
    for (uint64_t k = 0; k < lookups; ++k) {
      const float* row = table[wanted[i * lookups + k]];
      for (int j = 0; j < kNumbers; ++j) sum[j] += row[j];
    }
    for (int j = 0; j < kNumbers; ++j) sums[i][j] = sum[j];
  }
  cxloom_roi_end();

  double whole = 0;  // small whole numbers are exact
  for (uint64_t i = 0; i < queries; ++i)
    for (int j = 0; j < kNumbers; ++j) whole += sums[i][j];
  return finished("embedding: sum of all rows", (uint64_t)whole, whole == (double)right);
}

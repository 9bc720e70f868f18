// Factors a matrix of tiles into L and U, without pivoting, and keeps a checkpoint in persistent memory after
// each step.
//
// There are two places for each tile. A step writes the tiles that it has changed to the places that the
// checkpoint before does not use, all of them durable before the number of the step is. From that number
// alone follows which place of a tile counts.
#include <math.h>

#include "persistent.h"

static uint64_t tiles;  // of a side of the matrix
static uint64_t side;   // of a tile

struct Checkpoint {
  uint64_t steps;  // that are done
  char pad[kLine - sizeof(uint64_t)];
};

static double* tile_of(double* matrix, uint64_t row, uint64_t column) {
  return matrix + (row * tiles + column) * side * side;
}

// A tile is changed by each step up to its row or column.
static double* saved_tile(double* places, uint64_t row, uint64_t column, uint64_t steps) {
  const uint64_t own = 1 + (row < column ? row : column);
  const uint64_t last = steps < own ? steps : own;
  return tile_of(places + (last & 1) * tiles * tiles * side * side, row, column);
}

static void factor(double* a) {
  for (uint64_t k = 0; k < side; ++k) {
    for (uint64_t i = k + 1; i < side; ++i) {
      a[i * side + k] /= a[k * side + k];
      for (uint64_t j = k + 1; j < side; ++j) a[i * side + j] -= a[i * side + k] * a[k * side + j];
    }
  }
}

static void divide_by_lower(const double* lower, double* a) {  // a = lower^-1 a
  for (uint64_t k = 0; k < side; ++k) {
    for (uint64_t i = k + 1; i < side; ++i) {
      for (uint64_t j = 0; j < side; ++j) a[i * side + j] -= lower[i * side + k] * a[k * side + j];
    }
  }
}

static void divide_by_upper(const double* upper, double* a) {  // a = a upper^-1
  for (uint64_t i = 0; i < side; ++i) {
    for (uint64_t k = 0; k < side; ++k) {
      a[i * side + k] /= upper[k * side + k];
      for (uint64_t j = k + 1; j < side; ++j) a[i * side + j] -= a[i * side + k] * upper[k * side + j];
    }
  }
}

static void subtract_product(const double* l, const double* u, double* a) {
  for (uint64_t i = 0; i < side; ++i) {
    for (uint64_t k = 0; k < side; ++k) {
      for (uint64_t j = 0; j < side; ++j) a[i * side + j] -= l[i * side + k] * u[k * side + j];
    }
  }
}

static void step(double* a, uint64_t k) {
  factor(tile_of(a, k, k));
  for (uint64_t i = k + 1; i < tiles; ++i) {
    divide_by_lower(tile_of(a, k, k), tile_of(a, k, i));
    divide_by_upper(tile_of(a, k, k), tile_of(a, i, k));
  }
  for (uint64_t i = k + 1; i < tiles; ++i) {
    for (uint64_t j = k + 1; j < tiles; ++j)
      subtract_product(tile_of(a, i, k), tile_of(a, k, j), tile_of(a, i, j));
  }
}

static void save(struct Checkpoint* checkpoint, double* places, double* a, uint64_t first, uint64_t steps) {
  const uint64_t bytes = side * side * sizeof(double);
  for (uint64_t i = first; i < tiles; ++i) {
    for (uint64_t j = first; j < tiles; ++j) {
      double* const place = saved_tile(places, i, j, steps);
      memcpy(place, tile_of(a, i, j), bytes);
      flush(place, bytes);
    }
  }
  fence();
  checkpoint->steps = steps;
  persist(&checkpoint->steps, sizeof checkpoint->steps);
}

// One element of L U.
static double product_at(double* a, uint64_t row, uint64_t column) {
  double sum = 0;
  for (uint64_t k = 0; k <= row && k <= column; ++k) {
    const double l = k == row ? 1 : tile_of(a, row / side, k / side)[row % side * side + k % side];
    sum += l * tile_of(a, k / side, column / side)[k % side * side + column % side];
  }
  return sum;
}

int main(int argc, char** argv) {
  tiles = argument(argc, argv, 1, 6);
  side = argument(argc, argv, 2, 16);
  uint64_t random = argument(argc, argv, 3, 1);
  const uint64_t elements = tiles * tiles * side * side;
  pool_open(sizeof(struct Checkpoint) + 2 * elements * sizeof(double) + kLine);
  struct Checkpoint* const checkpoint = pool_take(sizeof *checkpoint);
  double* const places = pool_take(2 * elements * sizeof *places);
  double* const original = allocated(elements, sizeof *original);
  double* const a = allocated(elements, sizeof *a);
  for (uint64_t i = 0; i < tiles * side; ++i) {
    for (uint64_t j = 0; j < tiles * side; ++j) {
      double* const element = &tile_of(original, i / side, j / side)[i % side * side + j % side];
      *element = random_unit(&random) + (i == j ? (double)(tiles * side) : 0);
    }
  }
  memcpy(a, original, elements * sizeof *a);
  save(checkpoint, places, a, 0, 0);
  cxloom_roi_begin();
  for (uint64_t k = 0; k < tiles; ++k) {
    step(a, k);
    save(checkpoint, places, a, k, k + 1);
    acknowledge(k + 1);
  }
  cxloom_roi_end();
  double largest = 0;
  int same = 1;
  for (uint64_t i = 0; i < tiles * side; ++i) {
    for (uint64_t j = 0; j < tiles * side; ++j) {
      const uint64_t at = i % side * side + j % side;
      const double error = product_at(a, i, j) - tile_of(original, i / side, j / side)[at];
      largest = fmax(largest, fabs(error));
      same &=
          saved_tile(places, i / side, j / side, checkpoint->steps)[at] == tile_of(a, i / side, j / side)[at];
    }
  }
  return finished("checkpoint", checkpoint->steps, same && largest < 1e-9 * (double)(tiles * side));
}

// Monte Carlo transport: looks up macroscopic cross-sections of materials at random energies on a unionised
// grid.
//
//   crosssection [NUCLIDES [GRIDPOINTS [LOOKUPS [SEED]]]]
//
// The data structures are those that Tramm et al., "XSBench - the development and verification of a
// performance abstraction for Monte Carlo reactor analysis" (PHYSOR 2014) describe: each nuclide has a grid
// of energies with five cross-sections; the union of all grids knows for each of its energies where it lies
// in each of them. Checks the values against a grid whose cross-sections are linear in the energy, so that
// what is interpolated is known.
#include <math.h>

#include "program.h"

enum { kSections = 5, kMaterials = 12 };

typedef struct {
  double energy, sections[kSections];
} Point;

typedef struct {
  double energy;
  uint32_t nuclide, index;
} Union;

static int by_energy(const void* a, const void* b) {
  const double first = *(const double*)a, second = *(const double*)b;
  return (first > second) - (first < second);
}

int main(int argc, char** argv) {
  const uint64_t nuclides = argument(argc, argv, 1, 48), gridpoints = argument(argc, argv, 2, 1500);
  const uint64_t lookups = argument(argc, argv, 3, 40000), seed = argument(argc, argv, 4, 1);
  if (gridpoints < 2) return finished("crosssection: too few grid points", gridpoints, 0);
  const uint64_t energies = nuclides * gridpoints;
  uint64_t state = seed;
  Point* points = allocated(energies, sizeof(Point));
  for (uint64_t n = 0; n < nuclides; ++n) {
    Point* grid = points + n * gridpoints;
    for (uint64_t i = 0; i < gridpoints; ++i) grid[i].energy = random_unit(&state);
    grid[0].energy = 0, grid[1].energy = 1;  // every lookup is between two of them
    qsort(grid, gridpoints, sizeof(Point), by_energy);
    for (uint64_t i = 0; i < gridpoints; ++i)
      for (int s = 0; s < kSections; ++s) grid[i].sections[s] = (double)(n + 1) * (1 + s) * grid[i].energy;
  }

  // The union, and for each of its energies the interval in the grid of each nuclide.
  Union* all = allocated(energies, sizeof(Union));
  uint32_t* intervals = allocated(energies * nuclides, sizeof(uint32_t));
  for (uint64_t i = 0; i < energies; ++i)
    all[i] = (Union){points[i].energy, (uint32_t)(i / gridpoints), (uint32_t)(i % gridpoints)};
  qsort(all, energies, sizeof(Union), by_energy);
  uint32_t* at = allocated(nuclides, sizeof(uint32_t));
  for (uint64_t i = 0; i < energies; ++i) {
    at[all[i].nuclide] = all[i].index;
    for (uint64_t n = 0; n < nuclides; ++n)
      intervals[i * nuclides + n] = at[n] < gridpoints - 1 ? at[n] : (uint32_t)gridpoints - 2;
  }

  uint64_t right = 0;
  for (uint64_t lookup = 0; lookup < lookups; ++lookup) {
    const double energy = random_unit(&state);
    const uint64_t material = random_below(&state, kMaterials);
    uint64_t low = 0, high = energies;
    while (high - low > 1) {
      const uint64_t middle = (low + high) / 2;
      if (all[middle].energy > energy) high = middle;
      else low = middle;
    }
    double total[kSections] = {0}, density = 0;
    // A material has every so many-th nuclide; the fuel, number 0, has all.
    for (uint64_t n = material; n < nuclides; n += 1 + material) {
      const Point *below = &points[n * gridpoints + intervals[low * nuclides + n]], *above = below + 1;
      const double share = (energy - below->energy) / (above->energy - below->energy);
      for (int s = 0; s < kSections; ++s)
        total[s] += below->sections[s] + share * (above->sections[s] - below->sections[s]);
      density += (double)(n + 1);
    }
    int fits = 1;
    for (int s = 0; s < kSections; ++s)
      fits &= fabs(total[s] - density * (1 + s) * energy) <= 1e-9 * (1 + density * (1 + s));
    right += (uint64_t)fits;
  }
  return finished("crosssection: values right", right, right == lookups);
}

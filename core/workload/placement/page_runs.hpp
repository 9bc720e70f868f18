// Runs of pages of a program, by their numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace cxloom {

/// Pages that follow each other.
struct PageRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
using PageRuns = std::vector<PageRun>;

std::uint64_t count_of(const PageRuns& pages);

}  // namespace cxloom

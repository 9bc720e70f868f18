// What threads have of the translation of their addresses: the TLB of their core, and when its walkers are free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tags/tlb.hpp"

namespace cxloom {

/// Of all threads.
struct TranslationCounts {
  std::uint64_t misses = 0;  ///< of the first level of the TLB
  std::uint64_t walks = 0;   ///< of them those that the second level missed, too
  std::uint64_t loads = 0;   ///< entries of page tables that were read
  std::uint64_t cycles = 0;  ///< in which a thread had nothing to dispatch because of walks, memory aside
};

/// Of one thread, in the cycles in which nothing waits for memory. Walks take walkers in the order of the program.
class PageWalkers {
 public:
  explicit PageWalkers(std::uint32_t count) : free_(count) {}

  /// A walk that could begin in a cycle begins when a walker is free.
  std::uint64_t begin(std::uint64_t cycle) {
    first_ = std::ranges::min_element(free_);
    return std::max(cycle, *first_);
  }
  /// The walk that began last is over.
  void end(std::uint64_t cycle) { *first_ = cycle; }

 private:
  std::vector<std::uint64_t> free_;  // from that cycle on
  std::vector<std::uint64_t>::iterator first_;
};

}  // namespace cxloom

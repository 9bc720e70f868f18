// Whether there may be a write to a burst among those that arrive or wait: a counting filter, so that most
// accesses need not search the queue.
#pragma once

#include <array>
#include <cstdint>

#include "memory/dram/queue/queue.hpp"

namespace cxloom {

class DramWriteFilter {
 public:
  void add(const DramBurst& burst) {
    for (const std::uint32_t place : places(burst)) ++counts_[place];
  }
  void remove(const DramBurst& burst) {
    for (const std::uint32_t place : places(burst)) --counts_[place];
  }
  bool may_hold(const DramBurst& burst) const {
    const auto [first, second] = places(burst);
    return counts_[first] != 0 && counts_[second] != 0;
  }
  /// Whether there may be one besides the burst itself, which is among them if it is a write.
  bool may_hold_another(const DramBurst& burst) const {
    const auto [first, second] = places(burst);
    return counts_[first] > unsigned{burst.write} && counts_[second] > unsigned{burst.write};
  }

 private:
  static constexpr unsigned kBits = 11;
  /// Two counters for each burst, so that the filter is seldom wrong: it is asked again after each command
  /// about a read that it takes for one to be answered from the queue.
  static std::array<std::uint32_t, 2> places(const DramBurst& burst) {
    const std::uint32_t hash =
        burst.row * 0x9e3779b1U ^ burst.bank * 0x85ebca6bU ^ burst.column * 0xc2b2ae35U;
    return {hash % (1U << kBits), hash >> (32U - kBits)};
  }

  std::array<std::uint32_t, 1U << kBits> counts_{};  ///< how many writes count here
};

}  // namespace cxloom

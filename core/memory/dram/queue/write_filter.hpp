// Whether there may be a write to a burst among those that arrive or wait: a counting filter, so that most
// accesses need not search the queue.
#pragma once

#include <array>
#include <cstdint>

#include "memory/dram/queue/queue.hpp"

namespace cxloom {

class DramWriteFilter {
 public:
  void add(const DramBurst& burst) { ++counts_[hash(burst)]; }
  void remove(const DramBurst& burst) { --counts_[hash(burst)]; }
  bool may_hold(const DramBurst& burst) const { return counts_[hash(burst)] != 0; }

 private:
  static constexpr std::size_t kSize = 1024;
  static std::size_t hash(const DramBurst& burst) {
    return (burst.row * 0x9e3779b1U ^ burst.bank * 0x85ebca6bU ^ burst.column * 0xc2b2ae35U) % kSize;
  }

  std::array<std::uint32_t, kSize> counts_{};  ///< how many writes share a hash
};

}  // namespace cxloom

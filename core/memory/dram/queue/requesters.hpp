// Requesters with bursts here, arriving or waiting: how many have reads alone, how many writes alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/dram/queue/queue.hpp"

namespace cxloom {

class DramRequesters {
 public:
  /// Whether others wait, and the burst is the first of its requester in its direction.
  bool new_among(const DramBurst& burst) const {
    if (all() == 0) return false;
    const std::uint32_t requester = index(burst);
    return requester >= counts_.size() || counts_[requester][burst.write] == 0;
  }
  /// A burst arrives. Returns whether there are several requesters from now on, and were not before.
  bool add(const DramBurst& burst) {
    const std::uint32_t requester = index(burst);
    if (requester >= counts_.size()) [[unlikely]]
      counts_.resize(requester + std::size_t{1});
    Counts& own = counts_[requester];
    if (own[burst.write]++ != 0) return false;
    if (own[!burst.write] != 0) {
      --only_[!burst.write];
      ++both_;
      return false;
    }
    ++only_[burst.write];
    return all() == 2;
  }
  /// The burst is served, or need not be.
  void remove(const DramBurst& burst) {
    Counts& own = counts_[index(burst)];
    if (--own[burst.write] != 0) return;
    if (own[!burst.write] == 0) {
      --only_[burst.write];
      return;
    }
    --both_;
    ++only_[!burst.write];
  }

  /// Somebody has bursts of this direction, and none of the other.
  bool only(bool write) const { return only_[write] != 0; }
  bool several() const { return all() > 1; }

 private:
  using Counts = std::array<std::uint32_t, 2>;

  /// 0 is that of nobody.
  static std::uint32_t index(const DramBurst& burst) { return burst.requester.index() + 1U; }
  std::uint32_t all() const { return only_[0] + only_[1] + both_; }

  std::vector<Counts> counts_;  ///< by requester: reads, writes
  Counts only_{};               ///< requesters with reads alone, with writes alone
  std::uint32_t both_ = 0;
};

}  // namespace cxloom

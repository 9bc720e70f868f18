// When refreshes of a rank are due, which banks they take, and how many are owed.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram_params.hpp"
#include "memory/dram_timers.hpp"

namespace cxloom {

class DramRefresh {
 public:
  DramRefresh(const DramConfig& config, std::uint32_t rank);

  /// The next one falls due; kNeverClock if refresh is off.
  Clock due() const { return due_; }
  Clock interval() const { return interval_; }
  /// The one that fell due is owed from now on.
  void fall_due() {
    ++owed_;
    due_ += interval_;
  }
  /// Whether one must or may go now, given whether accesses to the rank wait.
  bool wanted(bool rank_busy) const { return owed_ > (rank_busy ? postpone_ : 0); }

  /// The banks that the next one takes, by their index in the sub-channel.
  const std::vector<std::uint32_t>& banks() const { return sets_[set_]; }
  std::uint32_t set() const { return set_; }
  bool all_banks() const { return all_banks_; }

  /// Its banks are being closed for it; no new rows are opened there.
  bool draining() const { return draining_; }
  void drain() { draining_ = true; }
  /// It went out.
  void issued() {
    draining_ = false;
    --owed_;
    set_ = (set_ + 1) % static_cast<std::uint32_t>(sets_.size());
  }
  /// `count` of them went by while the rank was idle.
  void skip(Clock count) {
    due_ += count * interval_;
    set_ = static_cast<std::uint32_t>((set_ + count) % static_cast<Clock>(sets_.size()));
  }

 private:
  Clock interval_;
  Clock due_;
  bool all_banks_;
  bool draining_ = false;
  std::uint32_t postpone_;
  std::uint32_t owed_ = 0;
  std::uint32_t set_ = 0;
  std::vector<std::vector<std::uint32_t>> sets_;
};

}  // namespace cxloom

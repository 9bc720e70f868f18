// When a row is closed that nobody has asked to close: the policies open, closed, adaptive and timeout.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram_params.hpp"
#include "memory/dram_timers.hpp"

namespace cxloom {

class DramRowPolicy {
 public:
  DramRowPolicy(const DramConfig& config, std::uint32_t banks)
      : policy_(config.row_policy), timeout_(config.row_timeout), banks_(banks) {}

  /// A row is opened. The adaptive predictor counts up if it is the bank's last one, and down if not.
  void opened(std::uint32_t bank, std::uint32_t row) {
    Bank& state = banks_[bank];
    if (state.last_row == row) {
      state.counter = state.counter == 3 ? std::uint8_t{3} : static_cast<std::uint8_t>(state.counter + 1);
    } else {
      state.counter = state.counter == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(state.counter - 1);
    }
    state.last_row = row;
  }
  /// The open row is used once more; `again`: not for the first time since it was opened.
  void used(std::uint32_t bank, bool again, Clock now) {
    Bank& state = banks_[bank];
    state.close_at = now + timeout_;
    if (again && state.counter < 3) ++state.counter;
  }
  /// Whether the row is closed with its last waiting access.
  bool closes(std::uint32_t bank) const {
    return policy_ == RowPolicy::kClosed || (policy_ == RowPolicy::kAdaptive && banks_[bank].counter < 2);
  }
  /// When an open row that nobody waits for is closed.
  Clock close_at(std::uint32_t bank) const { return banks_[bank].close_at; }
  bool times_out() const { return policy_ == RowPolicy::kTimeout; }

 private:
  struct Bank {
    Clock close_at = 0;
    std::int64_t last_row = DramTimers::kClosed;
    std::uint8_t counter = 2;  ///< 2 and 3 predict that the row will be wanted again
  };

  RowPolicy policy_;
  Clock timeout_;
  std::vector<Bank> banks_;
};

}  // namespace cxloom

// The command bus of a sub-channel: when it is free again, for commands that take one clock of it or several.
// A recorder of commands sees them here.
#pragma once

#include <array>
#include <cstdint>

#include "memory/dram/device/command.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/queue.hpp"

namespace cxloom {

class DramCommandBus {
 public:
  DramCommandBus(const DramDevice& device, std::uint32_t sub_channel);

  /// Shows every command from now on to `log`.
  void watch(DramCommandLog* log) { log_ = log; }
  bool watched() const { return log_ != nullptr; }

  /// The first clock that is free for commands to columns (read, write), or to rows.
  Clock free(bool column) const { return free_[column && split_]; }
  /// An ACT-1 waits for the ACT-2 before it, which goes in the first clock that no other command takes.
  Clock free_for_activate() const { return free_[0] + second_half_; }

  /// `bank` counts in the sub-channel; of a command to a rank or a set of banks it is the first. `burst`:
  /// whose row or column it is.
  void send(DramCommand command, std::uint32_t bank, Clock now, const DramBurst* burst = nullptr) {
    hold(command, now);
    show(command, bank, now, burst);
  }
  /// What a command does to others: it takes the bus.
  void hold(DramCommand command, Clock now);
  /// What others see of it.
  void show(DramCommand command, std::uint32_t bank, Clock now, const DramBurst* burst = nullptr) const {
    if (log_) show(command, bank / banks_in_rank_, bank % banks_in_rank_, now, burst);
  }
  /// Power-down and its end, which need no clock of the bus.
  void send_beside(DramCommand command, std::uint32_t rank, Clock now) const {
    if (log_) show(command, rank, 0, now, nullptr);
  }

 private:
  void show(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
            const DramBurst* burst) const;

  const bool split_;           ///< commands to rows and to columns have a bus each
  const bool split_activate_;  ///< ACT-1 and ACT-2 need not follow each other
  const Clock activate_clocks_;
  const Clock column_clocks_;
  const Clock other_clocks_;  ///< of every other command, and of ACT-1 and ACT-2
  const std::uint32_t sub_channel_;
  const std::uint32_t banks_in_rank_;
  DramCommandLog* log_ = nullptr;
  std::array<Clock, 2> free_{};         ///< commands to rows (or all), commands to columns
  Clock second_half_by_ = kNeverClock;  ///< an ACT-2 goes in a pause before this clock, or then
  Clock second_half_ = 0;               ///< clocks that it takes; 0: none is to come
};

inline void DramCommandBus::hold(DramCommand command, Clock now) {
  const bool column = command >= DramCommand::kRead && command <= DramCommand::kWritePrecharge;
  const bool activate = command == DramCommand::kActivate;
  Clock& free = free_[column && split_];
  if (now >= free + other_clocks_) {  // it went in the pause
    second_half_by_ = kNeverClock;
    second_half_ = 0;
  }
  if (activate && split_activate_) {
    free = now + other_clocks_;
    // So that another command of two clocks, after a pause of one, does not make it late.
    second_half_by_ = now + kLongestActivate - 2 * (other_clocks_ - 1);
    second_half_ = other_clocks_;
    return;
  }
  free = now + (column ? column_clocks_ : activate ? activate_clocks_ : other_clocks_);
  if (free >= second_half_by_) {  // it has to go now
    free += second_half_;
    second_half_by_ = kNeverClock;
    second_half_ = 0;
  }
}

}  // namespace cxloom

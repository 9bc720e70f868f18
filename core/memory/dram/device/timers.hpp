// From when on each command may go to each bank: the constraints between commands, kept as next-ready times
// that every command pushes forward. Nothing here chooses; it only knows the allowed times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/dram/device/device.hpp"

namespace cxloom {

inline constexpr Clock kNeverClock = Clock{1} << 62U;

class DramTimers {
 public:
  static constexpr std::int64_t kClosed = -1;

  /// By what goes: a read, a write, a write that needs a read-modify-write.
  using ColumnTimes = std::array<Clock, 3>;

  struct Bank {
    std::int64_t row = kClosed;
    Clock activate = 0;
    Clock precharge = 0;
    ColumnTimes column{};
    std::uint32_t group = 0;
    std::uint32_t rank = 0;
  };

  DramTimers(const DramOrganisation& organisation, const DramTiming& timing);

  const Bank& bank(std::uint32_t index) const { return banks_[index]; }
  std::uint32_t open_banks(std::uint32_t rank) const { return ranks_[rank].open; }

  // The first clock at which a command may go out, the command bus aside: what the bank and its group allow,
  // and what the rank allows.

  Clock activate_at(const Bank& bank) const { return std::max(bank.activate, groups_[bank.group].activate); }
  Clock precharge_at(const Bank& bank) const { return bank.precharge; }
  Clock column_at(const Bank& bank, bool write, bool rmw) const {
    const unsigned what = unsigned{write} + unsigned{rmw};
    return std::max(bank.column[what], groups_[bank.group].column[what]);
  }
  // The part of it that the group allows, which commands to its other banks push forward.
  const Clock& group_activate_at(const Bank& bank) const { return groups_[bank.group].activate; }
  const Clock& group_column_at(const Bank& bank, bool write, bool rmw) const {
    return groups_[bank.group].column[unsigned{write} + unsigned{rmw}];
  }
  Clock rank_activate_at(std::uint32_t rank) const {
    return std::max(ranks_[rank].activate, ranks_[rank].awake);
  }
  Clock rank_precharge_at(std::uint32_t rank) const {
    return std::max(ranks_[rank].precharge, ranks_[rank].awake);
  }
  Clock rank_column_at(std::uint32_t rank, bool write) const {
    return std::max(ranks_[rank].column[write], ranks_[rank].awake);
  }
  Clock precharge_all_at(std::uint32_t rank) const;
  /// For a refresh of the rank, or of `banks` (by index), all of them closed.
  Clock refresh_all_at(std::uint32_t rank) const;
  Clock refresh_at(std::uint32_t rank, const std::vector<std::uint32_t>& banks) const;

  /// From then on no command so far keeps another burst waiting. It may be later than need be.
  Clock rest_from() const { return rest_from_; }
  /// A burst found all at rest: its row was opened at `activate` (0: it was open), and its read or write went
  /// out at `column`. Nobody waits for what these do before rest comes again; else they follow here. When a
  /// row may be closed is always known, since a refresh begins with the row that may be closed first.
  void serve_at_rest(std::uint32_t index, std::int64_t row, bool write, Clock activate, Clock column) {
    set_row(index, row);
    banks_[index].precharge = std::max(activate + timing_.tRAS, column + column_to_precharge_[write]);
    rest_from_ = column + rest_after_column_;
  }
  /// The row is closed by that read or write, of which the same holds.
  void close_at_rest(std::uint32_t index) {
    set_row(index, kClosed);
    rest_from_ += timing_.tRP;
  }
  /// Changes no times.
  void set_row(std::uint32_t index, std::int64_t row) {
    Bank& bank = banks_[index];
    ranks_[bank.rank].open += std::uint32_t{row != kClosed} - std::uint32_t{bank.row != kClosed};
    bank.row = row;
  }

  // Effects of each command on the times of the others.

  void activate(std::uint32_t index, std::int64_t row, Clock now);
  void precharge(std::uint32_t index, Clock now);
  void precharge_all(std::uint32_t rank, Clock now);
  /// `close`: with auto-precharge.
  void column(std::uint32_t index, bool write, bool close, Clock now);
  /// The rank is busy for `duration`: tRFC of a refresh.
  void refresh_all(std::uint32_t rank, Clock now, Clock duration);
  void refresh_same(std::uint32_t rank, const std::vector<std::uint32_t>& banks, Clock now);
  /// The rank leaves power-down.
  void power_up(std::uint32_t rank, Clock now) {
    ranks_[rank].awake = now + timing_.tXP;
    push(rest_from_, ranks_[rank].awake);
  }

 private:
  struct Group {
    Clock activate = 0;
    ColumnTimes column{};
  };
  /// The last four, a ring.
  struct FourActivates {
    std::array<Clock, 4> at{};
    std::uint32_t oldest = 0;

    /// One more goes out; returns when the first of the last four did.
    Clock add(Clock now) {
      at[oldest] = now;
      oldest = (oldest + 1) % 4;
      return at[oldest];
    }
  };
  struct Rank {
    Clock activate = 0;
    std::array<Clock, 2> column{};
    Clock precharge = 0;
    Clock refresh = 0;
    Clock awake = 0;
    FourActivates activates;
    std::uint32_t open = 0;
    std::uint32_t stack = 0;  ///< which it is a die of
    std::uint32_t pseudo_channel = 0;
  };

  std::span<Bank> banks_of(std::uint32_t rank) {
    return std::span(banks_).subspan(std::size_t{rank} * banks_in_rank_, banks_in_rank_);
  }
  std::span<const Bank> banks_of(std::uint32_t rank) const {
    return std::span(banks_).subspan(std::size_t{rank} * banks_in_rank_, banks_in_rank_);
  }
  // Effects of a read or write on the next ones to its bank, where it waits longer than the rest of its
  // group.
  void column_in_bank(Bank& bank, bool write, Clock now, Clock end) const;
  // Effects of a read or write on the other ranks: the data bus is one, or each pseudo channel has its own.
  void column_of_others(const Rank& own, bool write, Clock now, Clock end);
  void column_of_pseudo_channels(const Rank& own, bool write, Clock end);
  // Effects of a command to a die on the others of its stack.
  void activate_in_stack(const Rank& own, Clock now);
  void refresh_in_stack(const Rank& own, Clock until);
  static void push(Clock& time, Clock to) { time = std::max(time, to); }
  void close(Bank& bank, Clock activate) {
    bank.row = kClosed;
    bank.activate = std::max(bank.activate, activate);
    --ranks_[bank.rank].open;
  }

  DramTiming timing_;
  /// What holds in a whole bank group: the times with M, or those with L where there are none.
  Clock group_read_;
  Clock group_write_;
  Clock group_rmw_;
  Clock group_write_to_read_;
  Clock other_die_read_;    ///< from a read of another die of the stack
  bool banks_wait_longer_;  ///< timers with M are there
  bool multiplexed_;        ///< there are several pseudo channels
  Clock burst_;
  std::array<Clock, 2> column_to_precharge_;  ///< from a read, from a write
  Clock rest_after_column_;  ///< from a read or write: all that it and the activate before it keep waiting
  Clock rest_from_ = 0;
  std::uint32_t banks_in_rank_;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Rank> ranks_;
  std::vector<FourActivates> stacks_;  ///< none: each device is a die by itself
};

}  // namespace cxloom

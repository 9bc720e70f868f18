// When refreshes of each rank are due and how many are owed, and the banks that are being closed for one. No
// row is opened in these any more. Refresh management, where activates are counted, is owed and done
// likewise.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/dram/device/config.hpp"
#include "memory/dram/device/counters.hpp"
#include "memory/dram/queue/ranks.hpp"
#include "memory/dram/refresh/activate_counts.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/refresh/steps.hpp"

namespace cxloom {

class DramRefresher {
 public:
  DramRefresher(const DramConfig& config, std::unique_ptr<DramRefreshPolicy> policy, DramRefreshSteps steps,
                const DramTimers& timers, const DramCommandBus& bus, DramRanks& ranks,
                DramCounters& counters);

  DramRefreshScope scope() const { return scope_; }
  /// Clocks between two refreshes of a rank; kNeverClock: off.
  Clock interval() const { return interval_; }
  /// The next one of any rank falls due; kNeverClock if refresh is off.
  Clock due() const { return due_; }
  Clock due(std::uint32_t rank) const { return std::min(of_rank_[rank].due, of_rank_[rank].managed.due); }
  /// What is due then is owed from now on.
  void fall_due(std::uint32_t rank);
  /// `limit` is the next clock at which anything but refreshes happens: counts earlier refreshes at once, if
  /// all ranks are idle and nothing delays any of them.
  void skip_idle(Clock limit);

  /// Whether one must or may begin now. Some are put off as long as bursts wait for the rank.
  bool wanted(std::uint32_t rank) const {
    const RankRefreshes& refreshes = of_rank_[rank];
    if (refreshes.draining || refreshes.owed == 0) return false;
    if (refreshes.managed.left != 0) return true;
    return ranks_.waiting(rank) == 0 || (refreshes.owed > postpone_ && policy_->urgent(rank, refreshes.owed));
  }
  bool owed(std::uint32_t rank) const { return of_rank_[rank].owed != 0; }
  /// Begins one: its banks are blocked until it has gone out.
  void start(std::uint32_t rank, Clock now);

  /// Ranks with banks that are being closed.
  std::uint32_t draining() const { return draining_; }
  bool draining(std::uint32_t rank) const { return of_rank_[rank].draining; }
  bool blocks(std::uint32_t bank) const { return blocked_[bank] != 0; }
  /// The set of the refresh that is under way, or was the last.
  const DramRefreshSet& set(std::uint32_t rank) const {
    const RankRefreshes& refreshes = of_rank_[rank];
    return refreshes.sets[refreshes.set];
  }
  /// When the next command of the one under way may go, the bus aside; kNeverClock: not before rows are used.
  Clock next_at(std::uint32_t rank, bool writing) const {
    const Managed& managed = of_rank_[rank].managed;
    return steps_.next_at(managed.under_way ? managed.form.scope : scope_, set(rank), writing);
  }
  void send_next(std::uint32_t rank, bool writing, Clock now);

  /// Activates are counted, and managed.
  bool manages() const { return counts_ != nullptr; }
  /// A row is opened, where they are. `due` may come sooner, and the bank be blocked.
  void opened(std::uint32_t bank, std::uint32_t row, Clock now);

 private:
  static constexpr std::uint8_t kClosing = 1;  ///< why a bank is blocked: for a refresh
  static constexpr std::uint8_t kOver = 2;     ///< it has had too many activates
  /// Management that a rank needs, one thing at a time.
  struct Managed {
    Clock due = kNeverClock;
    std::uint32_t commands = 0;  ///< from then on
    std::uint32_t left = 0;      ///< of them, among those that are owed
    std::uint32_t set = 0;
    DramRefreshForm form;
    bool under_way = false;
  };
  struct RankRefreshes {
    Clock due = kNeverClock;
    std::uint32_t owed = 0;
    std::uint32_t set = 0;
    bool draining = false;
    Managed managed;
    std::vector<DramRefreshSet>
        sets;  ///< where they are parts of a rank and it is managed: at last all of it
    std::vector<std::uint32_t>
        round;  ///< every set once: those that this round has had, then those that are left
    std::size_t had = 0;
  };

  void update_due();
  bool steady(std::uint32_t rank) const;
  std::uint32_t next_set(std::uint32_t rank);
  void advance(RankRefreshes& refreshes, std::size_t sets);
  void manage_bank(std::uint32_t bank, Clock at);
  void sent_management(std::uint32_t rank);

  const std::unique_ptr<DramRefreshPolicy> policy_;
  const DramRefreshScope scope_;
  const Clock interval_;  ///< kNeverClock: off
  const Clock duration_;
  const std::uint32_t postpone_;
  const Clock wake_;  ///< to come back from power-down, and to stay in it at least
  const Clock shortest_power_down_;
  DramRefreshSteps steps_;
  const DramTimers& timers_;
  const DramCommandBus& bus_;
  DramRanks& ranks_;
  DramCounters& counters_;
  std::vector<RankRefreshes> of_rank_;
  std::unique_ptr<DramActivateCounts> counts_;  ///< none: nothing is managed
  const DramManagement management_;
  const std::uint32_t banks_in_rank_;
  const std::uint32_t set_count_;      ///< of a rank, that take turns
  std::vector<std::uint8_t> blocked_;  ///< by bank, the reasons
  std::uint32_t draining_ = 0;
  Clock due_ = kNeverClock;
};

}  // namespace cxloom

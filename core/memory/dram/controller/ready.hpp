// What the banks need next in one direction: a list for each rank and kind of command. A bank is a link of at
// most one list, and leaves it wherever it stands there.
//
// The choice ends as soon as the rest of a list cannot be first. Activates mostly wait for their rank: any of
// them could go, so that they are in the order of priority and age, and the first that its group allows ends
// it. Columns and precharges wait for their bank, each as long after the command before: they are in the
// order of that time, in which they mostly come, and the first that is too late ends it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/queue.hpp"

namespace cxloom {

/// The order of commands that may go out at the same clock. An
/// activate holds up others of its rank, a precharge only its bank.
enum class DramStep : std::uint8_t { kRefresh, kActivate, kColumn, kPrecharge, kTimeout, kNothing };

/// Which of several commands goes first that may go out at the same clock, the lowest: by the priority that
/// the scheduler gave the burst, then the step, then the order of arrival. The key of a burst is that without
/// a step.
using DramRank = std::uint64_t;
constexpr DramRank dram_key(std::uint16_t priority, std::uint64_t order) {
  return DramRank{priority} << 48U | order;
}
constexpr DramRank dram_rank(DramRank key, DramStep step) { return key | static_cast<DramRank>(step) << 45U; }
constexpr DramStep dram_step(DramRank rank) { return static_cast<DramStep>(rank >> 45U & 7U); }

/// A command that may go out.
struct DramChoice {
  Clock at = kNeverClock;
  DramStep step = DramStep::kNothing;
  bool write = false;
  std::uint32_t target = 0;  ///< a bank; of kRefresh a rank
  DramRank rank = 0;
  bool before(const DramChoice& other) const { return at != other.at ? at < other.at : rank < other.rank; }
};

class DramReadyLists {
 public:
  static constexpr DramRank kNone = 0;  ///< of no command

  DramReadyLists(std::uint32_t banks, std::uint32_t ranks)
      : banks_(banks), links_(banks + std::size_t{ranks} * kKinds) {
    ensure(links_.size() <= std::numeric_limits<std::uint16_t>::max(), "more banks than links can number");
    for (std::uint32_t i = 0; i < links_.size(); ++i)
      links_[i].before = links_[i].after = static_cast<std::uint16_t>(i);
  }

  /// Puts a bank, which is in no list, into that of its next command, which the burst in `slot` needs. `own`
  /// is when the bank allows it, which stays, and `group` when its group does, which may come to be later.
  void add(std::uint32_t bank, std::uint32_t its_rank, DramRank rank, DramQueue::Slot slot, Clock own,
           const Clock& group) {
    const DramStep step = dram_step(rank);
    const std::uint32_t end = end_of(its_rank, step);
    const std::uint32_t next = step == DramStep::kActivate ? next_by_rank(end, rank) : next_by_time(end, own);
    const std::uint16_t last = links_[next].before;
    links_[bank] = {own, rank, &group, slot, last, static_cast<std::uint16_t>(next)};
    links_[last].after = links_[next].before = static_cast<std::uint16_t>(bank);
  }
  /// Takes it out of its list, if it is in any.
  void remove(std::uint32_t bank) {
    Link& link = links_[bank];
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    link.before = link.after = static_cast<std::uint16_t>(bank);
    link.rank = kNone;
  }
  /// Whether the bank is in a list for this command and time.
  bool holds(std::uint32_t bank, DramRank rank, Clock own) const {
    return links_[bank].rank == rank && links_[bank].own == own;
  }
  /// The next command of a bank, kNone if it is in no list.
  DramRank rank(std::uint32_t bank) const { return links_[bank].rank; }
  /// The burst that needs it.
  DramQueue::Slot slot(std::uint32_t bank) const { return links_[bank].slot; }
  /// When it may go out, not before `earliest`.
  Clock at(std::uint32_t bank, Clock earliest) const { return at(links_[bank], earliest); }
  bool empty(std::uint32_t rank, DramStep step) const {
    const std::uint32_t end = end_of(rank, step);
    return links_[end].after == end;
  }
  /// Puts the first of a list in the place of `best` if it goes out before it, none before `earliest`.
  void offer_first(std::uint32_t rank, DramStep step, Clock earliest, DramChoice& best) const {
    if (earliest > best.at) return;
    step == DramStep::kActivate ? offer_by_rank(end_of(rank, step), earliest, best)
                                : offer_by_time(end_of(rank, step), step, earliest, best);
  }

 private:
  static constexpr std::uint32_t kKinds = 3;
  /// Two of them are a cache line.
  struct Link {
    Clock own = std::numeric_limits<Clock>::max();  ///< of the end of a list after all others
    DramRank rank = kNone;
    const Clock* group = nullptr;
    DramQueue::Slot slot = DramQueue::kNone;
    std::uint16_t before = 0;
    std::uint16_t after = 0;
  };

  /// The link after the last of a list, and before the first.
  std::uint32_t end_of(std::uint32_t rank, DramStep step) const {
    return banks_ + rank * kKinds + (static_cast<std::uint32_t>(step) - 1);
  }
  /// The first with a higher rank, sought from both sides at once: it may be anywhere.
  std::uint32_t next_by_rank(std::uint32_t end, DramRank rank) const {
    std::uint32_t next = links_[end].after;
    std::uint32_t last = links_[end].before;
    while (next != end && links_[next].rank < rank) {
      if (links_[last].rank < rank) return links_[last].after;
      next = links_[next].after;
      last = links_[last].before;
    }
    return next;
  }
  /// The first that is later, sought from the end, where it mostly is.
  std::uint32_t next_by_time(std::uint32_t end, Clock own) const {
    std::uint32_t next = end;
    while (links_[next].before != end && links_[links_[next].before].own > own) next = links_[next].before;
    return next;
  }
  void offer_by_rank(std::uint32_t end, Clock earliest, DramChoice& best) const;
  void offer_by_time(std::uint32_t end, DramStep step, Clock earliest, DramChoice& best) const;
  static Clock at(const Link& link, Clock earliest) { return std::max({earliest, link.own, *link.group}); }
  static void offer(const Link& link, DramStep step, std::uint32_t bank, Clock at, DramChoice& best) {
    if (at < best.at || (at == best.at && link.rank < best.rank))
      best = {at, step, best.write, bank, link.rank};
  }

  const std::uint32_t banks_;
  std::vector<Link> links_;  ///< by bank, and after them the ends of the lists
};

inline void DramReadyLists::offer_by_rank(std::uint32_t end, Clock earliest, DramChoice& best) const {
  for (std::uint32_t bank = links_[end].after; bank != end; bank = links_[bank].after) {
    const Link& link = links_[bank];
    const Clock at = DramReadyLists::at(link, earliest);
    offer(link, DramStep::kActivate, bank, at, best);
    if (at == earliest) return;
  }
}

inline void DramReadyLists::offer_by_time(std::uint32_t end, DramStep step, Clock earliest,
                                          DramChoice& best) const {
  for (std::uint32_t bank = links_[end].after; links_[bank].own <= best.at; bank = links_[bank].after) {
    const Link& link = links_[bank];
    offer(link, step, bank, at(link, earliest), best);
  }
}

}  // namespace cxloom

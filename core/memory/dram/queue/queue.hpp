// The bursts that a sub-channel chooses from: a list for each bank and direction, oldest first, in slots of
// fixed number.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram/device/device.hpp"
#include "memory/dram/device/mapping.hpp"

namespace cxloom {

/// A burst on its way into, or in, a queue.
struct DramBurst {
  std::uint32_t access = 0;  ///< the media's number of the access that it belongs to
  std::uint32_t bank = 0;    ///< in the sub-channel, all ranks
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  NodeId requester;
  bool write = false;
  bool rmw = false;   ///< of a write: it needs a read-modify-write in the device
  bool first = true;  ///< of its access
};

/// The commands that a queued burst has needed so far.
enum class RowOutcome : std::uint8_t { kHit, kMiss, kConflict };

class DramQueue {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = 0xffffffffU;

  struct Entry {
    DramBurst burst;
    std::uint64_t order = 0;   ///< of arrival
    Clock first = kUntouched;  ///< its first command
    RowOutcome outcome = RowOutcome::kHit;
    Slot next = kNone;
  };
  static constexpr Clock kUntouched = -1;

  DramQueue(std::uint32_t banks, std::uint32_t slots) : lists_(std::size_t{banks} * 2) {
    entries_.reserve(slots);
  }

  const Entry& at(Slot slot) const { return entries_[slot]; }
  Entry& at(Slot slot) { return entries_[slot]; }
  std::uint32_t count(bool write) const { return counts_[write]; }

  /// The oldest of a bank, or kNone.
  Slot oldest(std::uint32_t bank, bool write) const { return lists_[bank * 2 + write].first; }
  /// The oldest of a bank that goes to `row`, or kNone.
  Slot oldest_to(std::uint32_t bank, bool write, std::int64_t row) const {
    Slot slot = oldest(bank, write);
    while (slot != kNone && entries_[slot].burst.row != row) slot = entries_[slot].next;
    return slot;
  }
  /// The write to exactly this burst, or kNone.
  Slot write_to(const DramBurst& burst) const {
    Slot slot = oldest_to(burst.bank, true, burst.row);
    while (slot != kNone &&
           (entries_[slot].burst.row != burst.row || entries_[slot].burst.column != burst.column)) {
      slot = entries_[slot].next;
    }
    return slot;
  }
  Slot add(const Entry& entry, std::uint64_t order);
  void remove(Slot slot);

 private:
  struct List {
    Slot first = kNone;
    Slot last = kNone;
  };

  std::vector<Entry> entries_;
  std::vector<Slot> free_;
  std::vector<List> lists_;
  std::uint32_t counts_[2] = {0, 0};
};

inline DramQueue::Slot DramQueue::add(const Entry& entry, std::uint64_t order) {
  const DramBurst& burst = entry.burst;
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  entries_[slot] = entry;
  entries_[slot].order = order;
  List& list = lists_[burst.bank * 2 + burst.write];
  if (list.first == kNone) {
    list.first = slot;
  } else {
    entries_[list.last].next = slot;
  }
  list.last = slot;
  ++counts_[burst.write];
  return slot;
}

inline void DramQueue::remove(Slot slot) {
  const DramBurst& burst = entries_[slot].burst;
  List& list = lists_[burst.bank * 2 + burst.write];
  if (list.first == slot) {
    list.first = entries_[slot].next;
  } else {
    Slot before = list.first;
    while (entries_[before].next != slot) before = entries_[before].next;
    entries_[before].next = entries_[slot].next;
    if (list.last == slot) list.last = before;
  }
  --counts_[burst.write];
  free_.push_back(slot);
}

}  // namespace cxloom

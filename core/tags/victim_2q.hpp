// Lines wait in a queue first, and are kept by use if they come again: 2Q (Johnson and Shasha, "2Q: A
// Low Overhead High Performance Buffer Management Replacement Algorithm", VLDB 1994, the full version).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "base/zeroed_array.hpp"
#include "tags/line_index.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// The paper's A1in has new lines in order; Am the kept ones by use; A1out the numbers that left A1in.
class TwoQueueVictims final : public VictimPolicy {
 public:
  struct Params {
    double in = 0.25;
    double out = 0.5;

    static void describe(Schema<Params>& schema);
  };
  TwoQueueVictims(const Params& params, const VictimContext& context);

  bool listens() const override { return true; }
  void inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override;
  void used(std::uint32_t set, Slot slot) override;
  void freed(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override;
  Slot victim(std::uint32_t set, const SlotOrder& order, const SlotPins& pins) override;

 private:
  enum class Queue : std::uint8_t { kNone, kIn, kMain };
  struct QueuedLine {
    std::uint64_t line;
    std::uint32_t previous;
    std::uint32_t next;
    Queue queue;
  };
  struct List {
    std::uint32_t first = kNoSlot;  // the one to leave first
    std::uint32_t last = kNoSlot;
    std::uint32_t size = 0;
  };
  struct Set {
    List in;
    List main;
    std::vector<std::uint64_t> left;  // line + 1; a ring, 0: none
    std::size_t oldest = 0;
  };

  List& list_of(std::uint32_t set, Queue queue) {
    return queue == Queue::kIn ? sets_[set].in : sets_[set].main;
  }
  void append(std::uint32_t set, Slot slot, Queue queue);
  void unlink(std::uint32_t set, Slot slot);
  void remember(std::uint32_t set, std::uint64_t line);
  bool recall(std::uint32_t set, std::uint64_t line);
  Slot first_of(const List& list, const SlotPins& pins) const;

  std::uint32_t most_in_;
  ZeroedArray<QueuedLine> entries_;  // by slot
  std::vector<Set> sets_;
  LineIndex left_;  // of all sets: where in its ring a line is
};

}  // namespace cxloom

// The interface of a DRAM scheduler, which says what is served next. A kind is a file of its own and a line
// in `register_schedulers`, or in the `CXLOOM_PLUGIN` of a plug-in.
//
// A sub-channel asks its scheduler bank by bank, of reads and of writes, which burst the bank serves next.
// What that burst needs follows from the open row: ACT if there is none, RD or WR if it is its own, else PRE.
// Each command goes out at the first clock at which the constraints let it. Among commands ready at the same
// clock the lowest priority number goes first; then ACT, RD/WR, PRE; then the oldest. The channel decides
// whether reads or writes go, when to refresh, and that a row which was opened is used once before another
// takes its place.
#pragma once

#include <cstdint>

#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/queue.hpp"

namespace cxloom {

template <class Product, class Context>
class KindRegistry;

/// The surroundings of a scheduler when it is made, for a look whenever it is called.
struct DramSchedulerContext {
  const DramQueue& queue;    ///< by bank and direction the bursts: row, requester, order of arrival
  const DramTimers& timers;  ///< by bank its open row, and when each command may go
  DramClock clock;           ///< cycles of the command clock: all its times
  std::uint32_t banks;       ///< of all ranks
};

/// The burst that a bank serves next. kNone: none for now.
struct DramPick {
  DramQueue::Slot slot = DramQueue::kNone;
  std::uint16_t priority = 0;  ///< against bursts of other banks; the lowest goes first
};

class DramScheduler {
 public:
  virtual ~DramScheduler() = default;

  /// The burst that a bank serves next of one direction, a list that begins with `oldest`; `row` is open. It
  /// is asked when something has changed in the bank, or when it wanted to be; until then the answer holds.
  /// One that chooses within banks is asked about the direction that does not go once it does: `now` is still
  /// when the bank changed.
  virtual DramPick pick(DramQueue::Slot oldest, std::int64_t row, Clock now) = 0;

  // Notifications. Each returns the bank about which it wants to be asked again besides that of the burst.

  static constexpr std::uint32_t kNoBank = 0xffffffffU;
  static constexpr std::uint32_t kEveryBank = 0xfffffffeU;

  /// A burst is in the queue now.
  virtual std::uint32_t arrived(DramQueue::Slot /*slot*/, Clock /*now*/) { return kNoBank; }
  /// A burst is being read or written, and leaves the queue next.
  virtual std::uint32_t served(DramQueue::Slot /*slot*/, Clock /*now*/) { return kNoBank; }
  /// The clock is `due`, which must be later from then on.
  virtual std::uint32_t wake(Clock /*now*/) { return kEveryBank; }
  Clock due() const { return due_; }

  /// Whether it only chooses among the bursts of a bank: all priorities are equal and
  /// no burst is held back. Then it is not asked where there is no choice, and
  /// `served` is called only for a burst that is served before the oldest of its bank.
  virtual bool within_banks() const { return false; }

  /// Whether it may pick nothing at all of the reads, or of the writes, that wait. Then the others go, if it
  /// picks any of them.
  virtual bool holds_back() const { return !within_banks(); }

  /// Whether it has to see accesses in the order of their arrival. If not, accesses
  /// that wait for room in the queue are admitted by bank, the fewest queued first.
  virtual bool in_order() const { return false; }

 protected:
  void set_due(Clock due) { due_ = due; }

 private:
  Clock due_ = kNeverClock;
};

using DramSchedulerRegistry = KindRegistry<DramScheduler, DramSchedulerContext>;

/// Registers the schedulers that come with cxloom.
void register_schedulers(DramSchedulerRegistry& registry);

}  // namespace cxloom

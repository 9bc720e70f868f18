// The cores of a requester: one for each thread of its workload, all on the requester's way to memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/measure.hpp"
#include "base/ring.hpp"
#include "component/endpoint.hpp"
#include "device/requester/call_table.hpp"
#include "device/requester/core.hpp"
#include "device/requester/core_report.hpp"
#include "device/requester/core_slots.hpp"
#include "device/requester/cores_meter.hpp"
#include "device/requester/miss_registers.hpp"
#include "device/requester/producer_table.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// Takes the accesses of a workload in its order, and gives each when its core makes it: once it is in the
/// window, its address is known, and the core has a miss register for its line, and a fill buffer.
class CoreCluster final : public AccessStream, public EventHandler {
 public:
  /// Whom it gives its accesses.
  class AccessTaker {
   public:
    /// There is one now, or several.
    virtual void take_made() = 0;

   protected:
    ~AccessTaker() = default;
  };

  /// In a workload without instruction gaps each access is an instruction.
  /// `queue`: requests that the requester has in flight at most, and so many write-backs.
  CoreCluster(const CoreParams& params, std::uint32_t queue, Work& work, Endpoint& endpoint,
              AccessTaker& taker);

  std::string name() const override { return endpoint_.name(); }
  bool next(Access& access) override;
  bool open() const override { return !ended_ || unmade_ > 0; }
  bool from_outside() const override { return workload_->from_outside(); }
  bool wants_answers() const override { return true; }
  /// The accesses that it has read, and of an endless workload all up to the last.
  std::uint64_t left_at_least() const override {
    const std::uint64_t read = accesses_read_ - first_given_ - given_.size();
    if (workload_->left_at_least() != kEndless) return read;
    return most_ == ~std::uint64_t{0} ? kEndless : read + most_ - accesses_read_;
  }
  /// Cores make none.
  bool may_store_past() const override { return false; }
  void answered(std::uint64_t number, const Request& request, Time now) override;
  std::optional<std::uint64_t> length() const override { return workload_->length(); }
  std::optional<Value> pages_by_node() const override { return workload_->pages_by_node(); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  /// The outside has more for it, perhaps.
  void resume();
  /// Threads that have something to do.
  std::uint64_t running() const;
  /// The kernel takes so much of the time of a thread, by its number in the workload, or of each that has
  /// something to do; gives what it takes in all.
  Time interrupt(std::optional<std::uint32_t> thread, Time time);
  /// For a reader that looks at the accesses and does not run them.
  AccessStream& workload() { return *workload_; }

  /// `from_start`: nothing has been made yet, and what was before the first access counts.
  void open_window(Time at, bool from_start) { meter_.open_window(at, from_start, reading()); }
  void close_window(Time at) { meter_.close_window(at, reading()); }
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures() { return core_measures(); }

  /// At most `kMostHeld` records are held: record n is read after record n - `kMostHeld` is answered. So an
  /// access knows the times of the one that it needs. A thread that waits is idle until it goes on. So is a
  /// thread whose next record is further in the workload than this, whatever its records said, until the
  /// others are there.
  static constexpr std::size_t kMostHeld = ProducerTable::kSize;
  /// Bytes that it takes, threads aside.
  static constexpr std::uint64_t bytes() { return ProducerTable::bytes(); }

 private:
  /// The state of a thread besides its core.
  struct Thread {
    Thread(const CoreParams& params, std::uint32_t its_number)
        : core(params), registers(params), walkers(params), number(its_number) {}

    Core core;
    MissRegisters registers;
    WalkerSlots walkers;
    std::uint32_t number;      // in the workload
    Ring<CoreAccess*> coming;  // read, and not in the window
    std::uint32_t undone = 0;  // in the window, not in the background, and without an answer
    std::uint64_t last = 0;    // number of the last access that was read, and one
    bool branches = false;     // its next record is a branch that waits for an answer
    bool waits = false;        // the last record that was read says so
    bool asleep = false;       // nobody waits for its next record
    bool ran = false;          // it had a record that is no access
    bool runs() const { return undone > 0 || !coming.empty(); }
    Time begun;  // when another let it begin
  };
  using Calls = CallTable<Thread>;
  /// An access whose address is known at a time to come. Thousands are: to compare them by what they hold
  /// themselves would bring each of them into a cache.
  struct Later {
    Time ready;
    std::uint64_t number;
    CoreAccess* access;
    bool operator>(const Later& other) const {
      return ready != other.ready ? ready > other.ready : number > other.number;
    }
  };
  static constexpr std::uint64_t kAhead = 4096;  // accesses that are read before they are needed
  struct Woken {
    Thread* thread;
    Time at;                   // at the earliest
    std::uint64_t behind = 0;  // the call that let it, perhaps; 0: none, or it says so itself
  };

  Time now() const;
  bool has_room() const { return producers_.has_room(); }
  bool read();
  void read_ahead();
  std::uint32_t core_of(std::uint32_t thread);
  bool provide(Thread& thread);
  void advance(Thread& thread);
  void advance_all();
  bool may_go_on(Thread& thread, CoreAccess& access);
  bool may_branch(CoreAccess& branch);
  void find_line(CoreAccess& read);
  void find_data(CoreAccess& use);
  void wait_for_line(Thread& thread, CoreAccess& use);
  void use(CoreAccess& use);
  void pass(Thread& thread, CoreAccess& access);
  void make_call(Thread& thread, std::uint64_t number, Calls::Call& call, Time at);
  void wake(Thread& thread, Time at, const PathUpTo* by);
  void rest_if_idle(Thread& thread);
  void find_address(CoreAccess& access);
  Time cycles_between(const CoreAccess& access) const;
  void make_at(CoreAccess& access, Time ready);
  void make(CoreAccess& access);
  void give_granted(Thread& thread);
  void collect_left(Core& core);
  CoresMeter::Reading reading() const;

  CoreParams params_;
  std::unique_ptr<AccessStream> workload_;
  bool counts_accesses_;
  std::uint64_t most_;  // accesses that are read
  Endpoint& endpoint_;
  AccessTaker& taker_;
  EventSource source_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // in threads_, by the workload's number
  bool short_of_room_ = false;                               // a thread sleeps for want of it
  std::vector<Woken> woken_;                                 // threads that go on
  ProducerTable producers_;                                  // accesses that others may need
  Calls calls_;
  Pool<CoreAccess> accesses_;
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
  Ring<CoreAccess*> made_;           // and not given
  CoreSlots write_backs_;            // of all threads, made and without an answer
  std::deque<CoreAccess*> given_;    // and not answered; null: answered
  std::uint64_t first_given_ = 0;    // number of the first of these
  std::uint64_t read_ = 0;           // records
  std::uint64_t accesses_read_ = 0;  // of these, accesses
  std::uint64_t coming_ = 0;         // read, and not in a window
  std::uint64_t unmade_ = 0;         // read, and not given
  Time armed_ = Time::max();         // an event is pending
  bool ended_ = false;               // the workload
  CoresMeter meter_;
};

}  // namespace cxloom

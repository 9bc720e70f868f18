// The cores of a requester: one for each thread of its workload, all on the requester's way to memory.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/measure.hpp"
#include "device/requester/core.hpp"
#include "device/requester/cores_meter.hpp"
#include "device/requester/producer_table.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "workload/stream/work.hpp"

namespace cxloom {

class Endpoint;
class Kernel;

/// Takes the accesses of a workload in its order, and gives each when its core makes it: once it is in the
/// window, its address is known, and the core waits for fewer than `mshrs` lines.
class CoreCluster final : public AccessStream, public EventHandler {
 public:
  /// Whom it gives its accesses.
  class Requester {
   public:
    /// There is one now, or several.
    virtual void take_made() = 0;

   protected:
    ~Requester() = default;
  };

  /// In a workload without instruction gaps each access is an instruction.
  /// `queue`: requests that the requester has in flight at most, and so many write-backs.
  CoreCluster(const CoreParams& params, std::uint32_t queue, Work& work, Endpoint& endpoint,
              Requester& requester);

  std::string name() const override;
  bool next(Access& access) override;
  bool open() const override { return !ended_ || unmade_ > 0; }
  bool from_outside() const override { return workload_->from_outside(); }
  bool wants_answers() const override { return true; }
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
  void open_window(bool from_start) { meter_.open_window(from_start, times()); }
  void close_window() { meter_.close_window(times()); }
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

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
    Thread(const CoreParams& params, std::uint32_t its_number) : core(params), number(its_number) {}

    Core core;
    std::uint32_t number;              // in the workload
    std::deque<CoreAccess*> coming;    // read, and not in the window
    std::deque<CoreAccess*> waiting;   // for others' answers
    std::deque<CoreAccess*> unwalked;  // the first loads of page walks that wait for a walker
    std::uint32_t misses = 0;          // lines that it waits for
    std::uint32_t walks = 0;           // walkers that are on their way
    std::uint32_t undone = 0;  // accesses without an answer that were in the window, write-backs aside
    std::uint64_t last = 0;    // number of the last access that was read, and one
    bool branches = false;     // its next record is a branch that waits for an answer
    bool waits = false;        // the last record that was read says so
    bool asleep = false;       // nobody waits for its next record
    bool ran = false;          // it had a record that is no access
    bool runs() const { return undone > 0 || !coming.empty(); }
    Time begun;  // when another let it begin
  };
  /// A system call that others may wait for.
  struct Call {
    bool made = false;
    Time at;                         // which may be later than now
    std::unique_ptr<PathUpTo> path;  // to it; none once it is long ago
    std::vector<Thread*> waiting;
  };
  /// The latest call that was read, and the latest of another thread than that.
  struct LatestCall {
    std::uint32_t core = 0;
    std::uint64_t number = 0;
  };
  struct Later {
    bool operator()(const CoreAccess* a, const CoreAccess* b) const {
      return a->ready != b->ready ? a->ready > b->ready : a->number > b->number;
    }
  };
  static constexpr std::uint64_t kAhead = 4096;  // accesses that are read before they are needed
  struct Woken {
    Thread* thread;
    Time at;                   // at the earliest
    std::uint64_t behind = 0;  // the call that let it, perhaps; 0: none, or it says so itself
  };
  static constexpr std::size_t kCalls = std::size_t{1} << 20U;  // nobody waits for one that is further back
  static constexpr std::size_t kPaths = std::size_t{1} << 16U;  // of calls to which the path is kept

  Time now() const;
  bool has_room() const { return producers_.has_room(); }
  bool read();
  void read_ahead();
  std::uint32_t core_of(std::uint32_t thread);
  bool provide(Thread& thread);
  void note_call(std::uint32_t core, const Access& call);
  std::uint64_t latest_but_of(std::uint32_t core) const;
  void advance(Thread& thread);
  void advance_all();
  bool may_go_on(Thread& thread, CoreAccess& access);
  bool may_branch(CoreAccess& branch);
  static void resolve(CoreAccess& branch, const CoreAccess& by);
  void pass(Thread& thread, CoreAccess& access);
  void make_call(Thread& thread, std::uint64_t number, Call& call, Time at);
  void wake(Thread& thread, Time at, const PathUpTo* by);
  const PathUpTo* path_of(const Woken& woken) const;
  void rest_if_idle(Thread& thread);
  void find_address(CoreAccess& access);
  Time cycles_between(const CoreAccess& access) const;
  void make_at(CoreAccess& access, Time ready);
  void make(CoreAccess& access);
  static bool goes_on(const CoreAccess& walk, const CoreAccess& dependent);
  void release_walker(Thread& thread);
  void release_write_back();
  void collect_left(Core& core);
  std::vector<CoreTime> times() const;

  CoreParams params_;
  std::unique_ptr<AccessStream> workload_;
  bool counts_accesses_;
  std::uint32_t walkers_;  // of a core
  std::uint64_t most_;     // accesses that are read
  Endpoint& endpoint_;
  Requester& requester_;
  EventSource source_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // in threads_, by the workload's number
  bool short_of_room_ = false;                               // a thread sleeps for want of it
  std::vector<Woken> woken_;                                 // threads that go on
  ProducerTable producers_;                                  // accesses that others may need
  std::unordered_map<std::uint64_t, Call> calls_;  // by number, calls of the workload that were read
  std::deque<std::uint64_t> calls_in_order_;
  std::deque<std::uint64_t> paths_in_order_;  // the calls to which the path is kept
  LatestCall latest_call_;
  LatestCall of_another_;
  Pool<CoreAccess> accesses_;
  std::priority_queue<CoreAccess*, std::vector<CoreAccess*>, Later> later_;
  std::deque<CoreAccess*> made_;       // and not given
  std::deque<CoreAccess*> unwritten_;  // write-backs that wait for room
  std::uint32_t write_backs_ = 0;      // made, and without an answer
  std::uint32_t most_write_backs_;
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

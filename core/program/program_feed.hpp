// The reader's end of what a program under an emulator tells: expands the records of all its threads into blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/feed_ring.hpp"
#include "program/program_sink.hpp"
#include "program/shared_pages.hpp"
#include "program/thread_order.hpp"

namespace cxloom {

/// Reads the rings in a private folder as they fill. System calls and beginnings of threads are numbered, and told in the order of
/// these numbers: a thread whose turn it is not yet is held. Between its calls each thread takes turns of some thousand
/// records, so that they advance together where all have something to tell; which access of two of them was
/// first is not known beyond that. Of a thread that is in a call that may wait, the kernel of this machine is asked whether it
/// sleeps: one that was only interrupted does not.
class ProgramFeed {
 public:
  struct Sizes {
    // Whose turn it is not yet in the order of calls waits until the others have told what came before, which is as much as their rings
    // hold: little, so that whoever simulates can hold it (CoreCluster::kMostHeld).
    std::uint32_t thread_words = 1U << 14U;
    std::uint32_t process_words = 1U << 15U;
  };

  /// Makes the control page in the folder, which exists and is empty. Throws InputError if it cannot.
  explicit ProgramFeed(std::string folder) : ProgramFeed(std::move(folder), Sizes{}) {}
  ProgramFeed(std::string folder, const Sizes& sizes);
  ProgramFeed(const ProgramFeed&) = delete;
  ProgramFeed& operator=(const ProgramFeed&) = delete;
  ~ProgramFeed();

  /// Tells the sink what the threads have written, `most` words or a few more; gives how many there were: zero if there is
  /// nothing at the moment. What the thread `wanted` has written is told alone, unless it cannot go on without others; 0: all are told
  /// in turn. Throws SimulationError if a ring holds what no writer of this version writes.
  std::uint64_t read(ProgramSink& sink, std::uint64_t most, std::uint32_t wanted = 0);
  /// What is left, and the last block of each thread, of which it was not known whether accesses would follow.
  void finish(ProgramSink& sink);
  /// Writers no longer wait, and their further words are lost.
  void stop();

  /// What a writer could not do, a sentence; empty if all went well.
  std::string failure() const;
  /// Processes that went on outside of the emulator.
  std::uint32_t escaped() const { return control().escaped.load(); }
  /// Of the processes whose ends were not seen.
  std::vector<std::uint32_t> living() const;
  std::uint32_t threads() const { return next_thread_ - 1; }
  std::uint32_t processes() const { return next_process_; }
  std::uint64_t words() const { return words_; }
  /// Accesses that belong to no instruction, and were dropped.
  std::uint64_t strays() const { return strays_; }

 private:
  struct Process;
  struct Thread;

  FeedControl& control() const { return *static_cast<FeedControl*>(control_.at(0)); }
  std::string name_of(std::uint32_t ring) const;
  void discover();
  bool open_ring(std::uint32_t number);
  void begin_process(std::uint32_t number, SharedPages pages);
  void find_thread(std::uint32_t number, SharedPages pages);
  bool begin_thread(Thread& thread, ProgramSink& sink);
  std::uint64_t read_wanted(std::uint32_t wanted, ProgramSink& sink);
  std::uint64_t read_all(ProgramSink& sink);
  void tell_turns(ProgramSink& sink);
  std::uint64_t read_thread(Thread& thread, std::uint64_t most, ProgramSink& sink);
  bool is_next(Thread& thread, std::uint64_t order);
  bool skip_lost();
  static void tell_mappings(Thread& thread, std::uint64_t begin, std::uint64_t end, ProgramSink& sink);
  static bool falls_asleep(const Thread& thread);
  static bool sleeps(const Thread& thread);
  void call(Thread& thread, const std::uint64_t* words, ProgramSink& sink);
  void call_ends(Thread& thread, const std::uint64_t* words, ProgramSink& sink);
  void enter(Thread& thread, std::uint64_t number, ProgramSink& sink);
  void access(Thread& thread, std::uint64_t record);
  void deliver(Thread& thread, ProgramSink& sink);
  void drop_ended(ProgramSink& sink);
  Process* process_of_ring(std::uint32_t ring);
  std::uint32_t thread_of_ring(std::uint32_t ring) const;

  std::string folder_;
  SharedPages control_;
  Sizes sizes_;
  std::vector<std::uint32_t> unopened_;  // rings that were announced and are not there yet
  std::uint32_t announced_ = 0;
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::uint32_t> numbers_;  // of threads, by ring
  ThreadOrder order_;
  std::uint64_t next_in_order_ = 1;
  std::uint32_t silent_ = 0;  // the thread that is wanted and had nothing to tell
  std::chrono::steady_clock::time_point silent_since_;
  bool waits_ = false;  // there was nothing to read when it was asked last
  std::chrono::steady_clock::time_point waits_since_;
  std::uint32_t next_thread_ = 1;
  std::uint32_t next_process_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t strays_ = 0;
};

}  // namespace cxloom

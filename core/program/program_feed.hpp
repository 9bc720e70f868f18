// The reader's end of what a program under an emulator tells: expands the records of all its threads into
// blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/feed/directory.hpp"
#include "program/feed/process.hpp"
#include "program/feed/program_sink.hpp"
#include "program/futex_tracker.hpp"
#include "program/stall_timer.hpp"
#include "program/syscall_order.hpp"

namespace cxloom {

/// Reads the rings in a private folder as they fill. System calls and beginnings of threads are numbered, and
/// told in the order of these numbers: a thread whose turn it is not yet is held. Between its calls each
/// thread takes turns of some thousand records, so that they advance together where all have something to
/// tell; which access of two of them was first is not known beyond that. Of a thread that is in a call that
/// may wait, the kernel of this machine is asked whether it sleeps: one that was only interrupted does not. A
/// thread that reads whether another has ended is held until that end is told, if the other has written it by
/// the time at which the read is told. It may have been written between the read and that time: the end is
/// then told too early, by no more than the reader had in its ring.
///
/// No processor of a machine is told far ahead of one that runs and has nothing to tell. But the emulator may
/// let that one wait until the others have left their blocks, while they wait for room in their rings, and
/// would do so for ever: if it sleeps and has not said that it rests, the others go on by turns.
class ProgramFeed {
 public:
  using Sizes = FeedDirectory::Sizes;

  /// Makes the control page in the folder, which exists and is empty. Throws InputError if it cannot.
  explicit ProgramFeed(std::string folder) : ProgramFeed(std::move(folder), Sizes{}) {}
  ProgramFeed(std::string folder, const Sizes& sizes);
  ProgramFeed(const ProgramFeed&) = delete;
  ProgramFeed& operator=(const ProgramFeed&) = delete;
  ~ProgramFeed();

  /// Tells the sink what the threads have written, `most` words or a few more; gives how many there were:
  /// zero if there is nothing at the moment. What the thread `wanted` has written is told alone, unless it
  /// cannot go on without others; 0: all are told in turn. Throws SimulationError if a ring holds what no
  /// writer of this version writes.
  std::uint64_t read(ProgramSink& sink, std::uint64_t most, std::uint32_t wanted = 0);
  /// Delivers the rest, and the last block of each thread: more accesses might have followed until now.
  void finish(ProgramSink& sink);
  /// Writers no longer wait, and their further words are lost.
  void stop() { folder_.control().stop.store(1); }
  /// Programs that still run are killed, within a tenth of a second.
  void end_programs() { folder_.control().orphaned.store(1); }

  /// The failure of a writer, a sentence; empty if all went well.
  std::string failure() const { return folder_.failure(); }
  /// Processes that went on outside of the emulator.
  std::uint32_t escaped() const { return folder_.control().escaped.load(); }
  /// The processes whose ends were not seen.
  std::vector<std::uint32_t> living() const;
  std::uint32_t threads() const { return next_thread_ - 1; }
  std::uint32_t processes() const { return next_process_; }
  /// The name of a thread.
  struct Name {
    ProgramThread thread;
    std::string program;
  };
  /// The names of all threads that began, in the order of their numbers.
  const std::vector<Name>& names() const { return names_; }
  /// The first instruction that a program came to and the emulator does not have; empty if there was none.
  std::string lacking() const { return folder_.lacking(); }
  std::uint64_t words() const { return words_; }
  /// Accesses that belong to no instruction, and were dropped.
  std::uint64_t strays() const { return strays_; }

 private:
  struct Process;
  struct Thread;
  struct EndRead;

  void discover();
  void begin_process(FeedDirectory::Ring ring);
  void find_thread(FeedDirectory::Ring ring);
  bool begin_thread(Thread& thread, ProgramSink& sink);
  std::uint64_t read_wanted(std::uint32_t wanted, ProgramSink& sink);
  std::uint64_t read_all(ProgramSink& sink);
  void tell_turns(ProgramSink& sink);
  std::uint64_t read_thread(Thread& thread, std::uint64_t most, ProgramSink& sink);
  bool skip_lost();
  void call(Thread& thread, const std::uint64_t* words, ProgramSink& sink);
  void call_ends(Thread& thread, const std::uint64_t* words, ProgramSink& sink);
  void enter(Thread& thread, std::uint64_t number, ProgramSink& sink);
  void enter_again(Thread& thread, std::uint64_t number, ProgramSink& sink);
  static void of_machine(Thread& thread, FeedEvent kind, const std::uint64_t* words, ProgramSink& sink);
  void deliver(Thread& thread, ProgramSink& sink);
  void note_end_read(Thread& thread, std::uint64_t address);
  bool is_undecided(const Thread& thread, const EndRead& read) const;
  bool settle_joins(Thread& thread, ProgramSink& sink);
  Thread* thread_of(std::uint32_t number) const;
  void drop_ended(ProgramSink& sink);
  Process* process_of_ring(std::uint32_t ring);
  std::uint32_t thread_of_ring(std::uint32_t ring) const;

  // A thread that was killed between taking its number in the order of calls and telling the call holds up
  // the others so long.
  static constexpr std::chrono::seconds kLongestHold{2};
  // A thread that tells nothing and does not sleep may have to wait for a processor of this machine. After so
  // long it is taken to wait within the emulator for another, whose ring is full.
  static constexpr std::chrono::milliseconds kLongestSilence{250};
  // So may a processor of a guest. While one sleeps within the emulator, the others go on by a turn each time
  // that the shorter of these has passed: whoever holds the lock that it waits for may starve, too.
  static constexpr std::chrono::seconds kLongestStarving{2};
  static constexpr std::chrono::milliseconds kLongestBlock{10};

  FeedDirectory folder_;
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::uint32_t> numbers_;  // of threads, by ring
  std::vector<Name> names_;
  FutexTracker order_;
  SyscallOrder calls_;
  StallTimer silence_{kLongestSilence};  // of the thread that is wanted
  StallTimer starved_{kLongestStarving};
  StallTimer blocked_{kLongestBlock};
  StallTimer hold_{kLongestHold};  // while there is nothing to read
  std::uint32_t next_thread_ = 1;
  std::uint32_t next_process_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t strays_ = 0;
};

}  // namespace cxloom

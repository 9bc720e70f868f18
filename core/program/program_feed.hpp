// The reader's end of what a program under an emulator tells: expands the records of all its threads into blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/feed_ring.hpp"
#include "program/program_sink.hpp"

namespace cxloom {

/// The shared memory of one file, unmapped at the end.
class SharedPages {
 public:
  SharedPages() = default;
  SharedPages(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages();

  void* at(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Reads the rings in a private folder as they fill. Threads take turns of some thousand records, so that they advance together
/// where all have something to tell; which of two of them did something first is not known beyond that.
class ProgramFeed {
 public:
  struct Sizes {
    std::uint32_t thread_words = 1U << 16U;
    std::uint32_t process_words = 1U << 15U;
  };

  /// Makes the control page in the folder, which exists and is empty. Throws InputError if it cannot.
  explicit ProgramFeed(std::string folder) : ProgramFeed(std::move(folder), Sizes{}) {}
  ProgramFeed(std::string folder, const Sizes& sizes);
  ProgramFeed(const ProgramFeed&) = delete;
  ProgramFeed& operator=(const ProgramFeed&) = delete;
  ~ProgramFeed();

  /// Tells the sink what the threads have written, `most` words or a few more; gives how many there were: zero if there is
  /// nothing at the moment. Throws SimulationError if a ring holds what no writer of this version writes.
  std::uint64_t read(ProgramSink& sink, std::uint64_t most);
  /// The last block of each thread, of which it was not known whether accesses would follow. No program runs any longer.
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
  void discover(ProgramSink& sink);
  bool open_ring(std::uint32_t number, ProgramSink& sink);
  void begin_process(std::uint32_t number, SharedPages pages);
  void begin_thread(std::uint32_t number, SharedPages pages, ProgramSink& sink);
  void read_blocks(Process& process);
  std::uint64_t read_thread(Thread& thread, ProgramSink& sink);
  void enter(Thread& thread, std::uint64_t number, ProgramSink& sink);
  void access(Thread& thread, std::uint64_t record);
  void deliver(Thread& thread, ProgramSink& sink);
  void drop_ended(ProgramSink& sink);
  Process* process_of_ring(std::uint32_t ring);

  std::string folder_;
  SharedPages control_;
  Sizes sizes_;
  std::vector<std::uint32_t> unopened_;  // rings that were announced and are not there yet
  std::uint32_t announced_ = 0;
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::uint32_t next_thread_ = 1;
  std::uint32_t next_process_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t strays_ = 0;
};

}  // namespace cxloom

// The jobs of the dies of flash, their owner, and what dies share.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

class Component;
class Kernel;

/// A job of a plane: a read, or a write, which may first have to read the rest of its page.
struct FlashJob {
  FlashJob* next = nullptr;
  std::uint32_t plane = 0;    ///< of all
  std::uint32_t logical = 0;  ///< page of the plane
  std::uint32_t bytes = 0;    ///< of a read that pass the bus
  bool writes = false;
  bool fetched = false;  ///< of a write: what it leaves of its page is there
  Time work;             ///< how long something has worked on it
};

/// An operation on a page or a block, for tests that follow the data.
class FlashObserver {
 public:
  virtual void read(std::uint32_t plane, std::uint32_t physical, const FlashJob* job) = 0;
  /// From the page `from` of the plane, or for a job.
  virtual void programs(std::uint32_t plane, std::uint32_t physical, const FlashJob* job,
                        std::uint32_t from) = 0;
  virtual void erased(std::uint32_t plane, std::uint32_t block) = 0;

 protected:
  ~FlashObserver() = default;
};

/// The owner of the jobs.
class FlashClient {
 public:
  /// The array has been read, and the job's bytes pass the bus next: from now on they are what they are.
  virtual void data_leave(FlashJob& job) = 0;
  virtual void read_done(FlashJob& job) = 0;
  /// Bytes that a write leaves of its page.
  virtual std::uint32_t missing(const FlashJob& job) const = 0;
  virtual void write_begins(FlashJob& job) = 0;
  virtual void write_done(FlashJob& job) = 0;
  /// Whether accesses wait until writes are done.
  virtual bool writes_are_waited_for() const = 0;

 protected:
  ~FlashClient() = default;
};

struct FlashCounts {
  std::uint64_t read_bytes = 0;  ///< of accesses
  std::uint64_t written_bytes = 0;
  std::uint64_t merged = 0;
  std::uint64_t joined = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t page_reads = 0;
  std::uint64_t page_programs = 0;
  std::uint64_t pages_moved = 0;  ///< of both
  std::uint64_t block_erases = 0;
};

/// The common state of all dies.
struct FlashWorks {
  Kernel& kernel;
  const Component& device;
  FlashClient& client;
  Time read_time;
  Time program_time;
  Time erase_time;
  Time command_time;
  std::uint32_t page;  // bytes
  bool copyback;
  FlashObserver* observer = nullptr;
  Windowed<FlashCounts> counts{kernel};
  LevelMonitor waiting;  // reads, for a die
  LevelMonitor busy;     // dies
};

}  // namespace cxloom

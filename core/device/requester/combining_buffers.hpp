// The buffers of a requester for stores that go past its caches: each gathers the stores to a line, and
// writes the line when it is full, when another line needs the buffer, or at a fence.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "base/measure.hpp"
#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class Kernel;
class ResourceSink;

struct CombiningCounts {
  std::uint64_t full = 0;
  std::uint64_t partial = 0;
};

class CombiningBuffers {
 public:
  /// The requester that has them.
  class BufferOwner {
   public:
    /// A request for what a buffer writes. It comes back with `written`.
    virtual Request& write_of_buffer() = 0;
    virtual void send_past(Request& request) = 0;
    /// A store is in a buffer: it is over at its account's mark.
    virtual void buffered(Request& store) = 0;
    /// An access that was held up goes to memory, or to the cache.
    virtual void let_go(Request& request) = 0;

   protected:
    ~BufferOwner() = default;
  };

  CombiningBuffers(std::uint32_t count, Kernel& kernel, BufferOwner& owner);

  /// Takes a store of one line at most, charged up to its arrival. It waits for a buffer if it has to.
  void store(Request& request);
  /// Holds an access up if its line is in a buffer: that is written first. False: it is in none.
  bool holds_up(Request& request);
  /// Writes all lines that are not full: what follows waits until `empty`.
  void drain();
  /// Writes those of `which` alone. Whether some are in them, or on their way to memory.
  bool drain(const std::function<bool(Address)>& which);
  /// Nothing is in them, nor on its way to memory, nor waits for them.
  bool empty() const { return occupied() == 0 && waiting_.empty(); }
  /// Lines in them, those on their way to memory too.
  std::uint32_t occupied() const { return static_cast<std::uint32_t>(occupied_.level()); }
  /// The answer to what `write_of_buffer` gave, which goes back to its owner.
  void written(Request& request);

  void report(MeasureSink& sink) const;
  void resources(ResourceSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  struct Buffer {
    LineAddress line;
    std::uint64_t bytes = 0;   // which of the line; 0: it is free
    std::uint64_t opened = 0;  // the first of all those that were
    Time ready;                // when the last store is in it
    bool leaves = false;       // it is on its way
    IntrusiveQueue<Request> held_up;
  };

  bool place(Request& store);
  bool is_waited_for(LineAddress line) const;
  Buffer* of(LineAddress line);
  void write(Buffer& buffer);
  void write_oldest();
  void serve();

  Kernel& kernel_;
  BufferOwner& owner_;
  std::vector<Buffer> buffers_;
  LevelMonitor occupied_;
  std::uint64_t opened_ = 0;
  bool used_ = false;
  IntrusiveQueue<Request> waiting_;  // for a buffer, and what came behind these to the same lines
  Windowed<CombiningCounts> counts_;
};

}  // namespace cxloom

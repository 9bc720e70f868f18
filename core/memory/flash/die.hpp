// A die of flash at work: which operation of which of its planes comes next, and how long it has the die and
// the bus.
#pragma once

#include <cstdint>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/wait_list.hpp"
#include "memory/flash/channel.hpp"
#include "memory/flash/plane.hpp"
#include "memory/flash/works.hpp"

namespace cxloom {

/// One operation at a time; operations of one kind on several planes
/// may be one. Planes that work independently are dies by themselves.
///
/// Reads go first. While somebody waits for writes, reads take turns with the rest. Of the rest, writes and
/// collection take turns in a plane, as long as there is room for writes. The planes of a die come round.
class FlashDie final : public EventHandler, public Waiter, private FlashBusUser {
 public:
  struct Member {
    std::uint32_t plane;  ///< of all
    FlashPlane* pages;
  };
  FlashDie(FlashWorks& works, EventSource& source, FlashChannel& channel, const std::vector<Member>& planes,
           bool together);

  /// `member`: which of its planes.
  void read(std::uint32_t member, FlashJob& job);
  void write(std::uint32_t member, FlashJob& job);

  void wake(std::uint8_t kind, std::uint64_t payload) override;
  const EventHandler& owner() const override;

 private:
  enum class Kind : std::uint8_t { kNone, kRead, kProgram, kErase };
  enum Wake : std::uint8_t { kArrayDone, kBytesOut };
  struct Collection {
    bool active = false;
    bool took_turn = false;  // it had the last turn, not a write
    std::uint32_t victim = 0;
    std::uint32_t next = 0;                     // page of it
    std::uint32_t held = FlashPlane::kNowhere;  // a page that was read and is to be programmed elsewhere
  };
  struct PlaneWork {
    std::uint32_t plane;
    FlashPlane* pages;
    IntrusiveQueue<FlashJob> reads;
    IntrusiveQueue<FlashJob> writes;
    Collection collection;
  };
  struct Step {
    PlaneWork* work = nullptr;
    FlashJob* job = nullptr;  // null: of a collection
    Kind kind = Kind::kNone;
    std::uint32_t physical = 0;  // page, or the first one of a block
    std::uint32_t bytes = 0;     // that pass the bus
    FlashBusUse out = {};        // of what was read
  };

  void start();
  using Next = Step (FlashDie::*)(PlaneWork& work);

  Step next_read(PlaneWork& work);
  Step next_other(PlaneWork& work);
  Step of_write(PlaneWork& work);
  Step of_collection(PlaneWork& work);
  /// The step of the first of the planes, in turn, that has something to do.
  Step first_of(Next next_of);
  void take(PlaneWork& work, const Step& chosen, bool reads);
  void begin();
  void granted(const FlashBusUse& use, Time end) override;
  Time array_time(Kind kind) const;
  void array_done();
  void finish(Step& step);
  void look_after(PlaneWork& work);

  FlashWorks& works_;
  EventSource& source_;
  FlashChannel& channel_;
  WaitList turn_;
  std::vector<PlaneWork> planes_;
  bool together_;
  std::vector<Step> steps_;    // under way
  FlashBusUse in_;             // of their commands, and of programmed pages
  std::size_t left_ = 0;       // of them
  std::uint32_t waiting_ = 0;  // reads
  std::size_t last_ = 0;       // plane that began
  bool read_last_ = false;
  bool idle_so_far_ = true;
};

}  // namespace cxloom

// Makes atomic operations in a memory: reads their bytes from the media, takes its time, and writes them
// back, while other accesses to the line wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "coherence/common/line_table.hpp"
#include "component/component.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "memory/media/context.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Media;

/// Stands between a controller and its media once an atomic operation has come: all accesses of the
/// controller pass it, so that it knows what is under way for a line.
class AtomicUnit final : public EventHandler {
 public:
  AtomicUnit(Time atomic_time, Kernel& kernel, EventSource& source, const Component& owner, Media& media,
             MediaClient& controller)
      : atomic_time_(atomic_time),
        kernel_(kernel),
        source_(source),
        owner_(owner),
        media_(media),
        controller_(controller) {}

  /// So many accesses are in the media that have not passed here, and others are until then. They may be to
  /// any line: no operation begins before they have ended. To be called once, before all else.
  void wait_for(std::uint32_t accesses, Time until);
  /// An access to `address` of the media. The controller hears when it is done: at that time, and not before.
  void access(Message& message, Address address, Time ready);
  /// The media report on an access. False: it did not pass here.
  bool media_done(Message& message, Time at);

  std::string name() const override { return owner_.name(); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  enum Wake : std::uint8_t { kReady, kDone, kOperated, kAlone };

  /// An access of the controller, all in one line.
  struct LineAccess {
    LineAccess* next = nullptr;
    std::uint32_t index = 0;
    Message* message = nullptr;  ///< the controller's
    Address address;
    Message own;  ///< what the media get

    bool atomic() const { return message->opcode == Opcode::kMemAtomic; }
  };
  /// A line with accesses under way.
  struct Line {
    Line* next = nullptr;
    LineAddress address;
    std::uint32_t in_media = 0;
    bool operates = false;  ///< on this line: others wait
    IntrusiveQueue<LineAccess> waiting;
  };

  void arrive(LineAccess& access);
  void begin(Line& line, LineAccess& access);
  void done(LineAccess& access);
  void go_on(Line& line);
  bool must_wait(const Line& line, const LineAccess& access) const {
    return access.atomic() && (line.in_media > 0 || !alone_);
  }
  void wait_for_others();
  void others_ended();

  Time atomic_time_;
  Kernel& kernel_;
  EventSource& source_;
  const Component& owner_;
  Media& media_;
  MediaClient& controller_;
  Pool<LineAccess> accesses_;
  Pool<Line> lines_;
  LineTable<Line> table_;
  const Message* told_ = nullptr;  // done, and the controller, which hears of it, asks here first

  // Accesses that came before the unit.
  std::uint32_t others_ = 0;  // without an end yet
  Time others_end_;           // the last of their known ends
  bool alone_ = false;        // they have all ended
  std::vector<Line*> held_;   // with an operation that waits for them
};

}  // namespace cxloom

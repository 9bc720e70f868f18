// Makes atomic operations in a memory: reads their bytes from the media, takes its time, and writes them back, while other
// accesses to the line wait.
#pragma once

#include <cstdint>
#include <string>

#include "base/intrusive_queue.hpp"
#include "coherence/line_table.hpp"
#include "component/component.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "memory/media_context.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Media;

/// Stands between a controller and its media once an atomic operation has come: all accesses of the controller pass it, so that
/// it knows what is under way for a line.
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

  /// An access to `address` of the media. The controller is told when it is done: at that time, and not before.
  void access(Message& message, Address address, Time ready);
  /// What the media say of an access. False: it did not pass here.
  bool media_done(Message& message, Time at);

  std::string name() const override { return owner_.name(); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  enum Wake : std::uint8_t { kReady, kDone, kOperated };

  struct Access {
    Access* next = nullptr;
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
    IntrusiveQueue<Access> waiting;
  };

  void arrive(Access& access);
  void begin(Line& line, Access& access);
  void done(Access& access);
  void go_on(Line& line);

  Time atomic_time_;
  Kernel& kernel_;
  EventSource& source_;
  const Component& owner_;
  Media& media_;
  MediaClient& controller_;
  Pool<Access> accesses_;
  Pool<Line> lines_;
  LineTable<Line> table_;
};

}  // namespace cxloom

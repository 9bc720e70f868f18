// Takes a part of a memory's media, such as a row, out of use for good: copies its lines to a spare one,
// while accesses to it wait and all others are served. docs/model/sparing.md.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/message.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

class ErrorMonitor;
class Kernel;
class MeasureSink;
struct CorrectedErrorsParams;

struct SparingCounts {
  std::uint64_t spared = 0;
  Time copies;
  std::uint64_t waits = 0;
  Time wait;
};

class SparingUnit final : public EventHandler {
 public:
  /// The controller of the media.
  class SparedController {
   public:
    /// The media take an access of the unit's own, now.
    virtual void copy_access(Message& message, Address address) = 0;
    /// An access goes to the media, now.
    virtual void goes_on(Message& message, Address address, Time ready) = 0;

   protected:
    ~SparedController() = default;
  };

  SparingUnit(Kernel& kernel, EventSource& source, const Component& owner, SparedController& controller,
              std::uint32_t spares);
  ~SparingUnit() override;

  /// An event will want a spare part. To be called before the run.
  void reserve() { --spares_; }
  /// Errors of parts are counted, and use the spare parts that no event wants. To be called before the run.
  void watch(const CorrectedErrorsParams& errors, Bytes capacity, std::uint64_t seed);

  /// A part is copied, once those before it are.
  void begin(const SparedPart& part);
  /// Takes an access that is ready then. It comes back by `goes_on` at that time, or behind the copy of its
  /// part: media want accesses in the order of time.
  void access(Message& message, Address address, Time ready);
  /// The media report on an access. False: it is none of the unit's own.
  bool media_done(const Message& message, Time at);

  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::string name() const override { return owner_.name(); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  struct Copy {
    Copy* next = nullptr;
    std::uint32_t index = 0;
    Message own;  ///< what the media get
  };
  struct PartAccess {
    PartAccess* next = nullptr;
    std::uint32_t index = 0;
    Message* message = nullptr;
    Address address;
    Time came;
  };
  enum Wake : std::uint8_t { kReady, kCopied };

  void begin_next();
  void copy_lines();
  void send(std::uint64_t line, Opcode opcode);
  /// False: it waits for a copy.
  bool arrive(PartAccess& access);
  void go_on(PartAccess& access);
  void line_copied(std::uint32_t copy);
  void copied();

  Kernel& kernel_;
  EventSource& source_;
  const Component& owner_;
  SparedController& controller_;
  std::deque<SparedPart> parts_;  // the first is being copied
  Pool<PartAccess> accesses_;
  IntrusiveQueue<PartAccess> held_;
  Pool<Copy> copies_;
  Windowed<SparingCounts> counts_;
  Time began_;
  bool writing_ = false;
  std::uint64_t first_ = 0;               // line of those that are being copied together
  std::uint64_t left_ = 0;                // of these, without an end yet
  std::uint32_t spares_;                  // that no event wants, and no error has taken
  std::unique_ptr<ErrorMonitor> errors_;  // none: it corrects none
};

}  // namespace cxloom

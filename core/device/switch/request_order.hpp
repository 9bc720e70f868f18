// Requests to memory in the order in which they came, reads and writes in one queue: where a port of a switch
// has a queue for each class, a read behind saturating writes goes past them, and here it waits with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "interconnect/wire/virtual_channel.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class SwitchCore;

/// What it counts.
struct RequestOrderCounts {
  std::uint64_t requests = 0;
  std::uint64_t overtaking_writes = 0;
};

/// The order is that of PCIe (Base Specification, Ordering Rules): a read never passes a write; a write
/// passes reads that are blocked, which only wait for a credit. Otherwise a home whose read waits for a
/// write-back might never get it.
class RequestOrder final : public EventHandler {
 public:
  /// `depth`: requests in the queue at most; others wait in the buffers by which they came, and requesters
  /// take turns. `rate`: so many leave the queue in a time.
  RequestOrder(std::optional<std::uint32_t> depth, const Rate& rate, SwitchCore& core, Component& owner);

  static bool takes(const Message& message) {
    return message.channel == Channel::kM2SReq || message.channel == Channel::kM2SRwD;
  }
  /// A request has come in by the port that it names, charged up to now.
  void arrive(Message& message);
  std::string name() const override { return owner_.name(); }
  /// The next one may be served.
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();
  /// Requests in the queue and before it.
  std::uint64_t held() const { return static_cast<std::uint64_t>(level_.level() + outside_.level()); }

 private:
  struct Entry {
    Message* message;  // its port is that by which it is to leave
    std::uint16_t input;
    std::uint64_t number = 0;  // in the order of all that are in the queue, and before that of all that came
  };
  /// The requests of a requester that wait for a place, each class in the order in which they came.
  struct Waiting {
    std::deque<Entry> reads;
    std::deque<Entry> writes;
    bool empty() const { return reads.empty() && writes.empty(); }
    /// The class whose first request came first.
    std::deque<Entry>& first() {
      if (reads.empty() || writes.empty()) return reads.empty() ? writes : reads;
      return reads.front().number < writes.front().number ? reads : writes;
    }
  };
  /// The requests of a class; the first of them waits for its port.
  class ClassQueue final : public Feeder {
   public:
    explicit ClassQueue(RequestOrder& order) : order_(&order) {}
    const EventHandler& owner() const override { return order_->owner_; }
    Message& head() const override { return *entries.front().message; }
    void taken(Time end) override { order_->taken(*this, end); }
    void turn_back() override { order_->turn_back(*this); }
    std::uint16_t input() const override { return entries.front().input; }

    std::deque<Entry> entries;
    bool asks = false;  // its head waits for its port

   private:
    RequestOrder* order_;
  };

  bool full() const { return depth_ && reads_.entries.size() + writes_.entries.size() >= *depth_; }
  void admit(Entry entry);
  /// The first of them, which waits no longer.
  Entry take_in(std::deque<Entry>& waiting);
  void admit_next();
  bool admit_write();
  void serve();
  bool may_serve(const ClassQueue& queue) const;
  bool blocked(const ClassQueue& queue) const;
  void ask(ClassQueue& queue);
  Message& take_out(ClassQueue& queue);
  void taken(ClassQueue& queue, Time end);
  void give_up(ClassQueue& queue);
  void turn_back(ClassQueue& queue);

  std::optional<std::uint32_t> depth_;
  RateMeter meter_;
  SwitchCore& core_;
  Component& owner_;
  ClassQueue reads_{*this};
  ClassQueue writes_{*this};
  std::uint64_t next_number_ = 0;
  std::uint64_t next_outside_ = 0;
  Time next_service_;
  Time wakes_at_{-1};
  std::map<std::uint32_t, Waiting> waiting_;  // by requester
  std::uint64_t writes_outside_ = 0;          // of all that wait
  std::deque<std::uint32_t> turns_;           // requesters with entries, in their order
  LevelMonitor level_;
  LevelMonitor outside_;  // entries that wait for a place
  Windowed<RequestOrderCounts> counts_;
};

}  // namespace cxloom

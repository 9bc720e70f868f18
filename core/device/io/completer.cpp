#include "device/io/completer.hpp"

#include <utility>

#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "component/io_roles.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

IoCompleter::Events::Events(Kernel& kernel) : source(kernel.new_source()) {}

const IoRecord& IoCompleter::expect_io(NodeId initiator) {
  if (!events_) {
    events_ = std::make_unique<Events>(endpoint().kernel());
    endpoint().add(*this);
    endpoint().bind(Channel::kIo, *this);
  }
  if (senders_.size() <= initiator.index()) senders_.resize(initiator.index() + 1);
  std::unique_ptr<Sender>& sender = senders_[initiator.index()];
  if (sender) return sender->posted;
  sender = std::make_unique<Sender>();
  sender->posted.measure_in(endpoint().kernel());
  for (const auto& [component, role] : endpoint().system_context().roles.all<IoInitiator>()) {
    if (component->id() != initiator) continue;
    sender->kernel = &component->kernel();
    sender->credits = role->credits();
  }
  return sender->posted;
}

void IoCompleter::expect_dma(NodeId initiator, DmaInitiator& engine) {
  if (!dma_) dma_ = std::make_unique<DmaCompleter>(io_time_, endpoint());
  dma_->expect(initiator, engine);
}

// No message goes back to the initiator. A credit goes back, by the receivers that the packet has passed:
// that takes the flight of the packet. Nobody records what comes from one that is no `IoInitiator`.
void IoCompleter::take_posted(Message& message) {
  PostedRequests& posted = endpoint().system_context().posted;
  Request* const packet = posted.of(message);
  if (!packet) {
    throw InternalError(name() + " got a posted write that was not taken from SystemContext::posted");
  }
  const std::size_t from = message.source.index();
  if (from < senders_.size() && senders_[from]) {
    Sender& sender = *senders_[from];
    const Time now = endpoint().now();
    sender.posted.add(packet->account, packet->created(), now);
    if (sender.credits) {
      const Time flight = packet->account.of(Segment::kPortDelay) + packet->account.of(Segment::kPropagation);
      Kernel& own = endpoint().kernel();
      if (sender.kernel == &own) {
        own.schedule_background(now + flight, events_->source, *sender.credits, IoInitiator::kCredited);
      } else {
        own.send(*sender.kernel, now + flight, events_->source, *sender.credits,
                 IoInitiator::kCredited | Event::kBackground, 0);
      }
    }
  }
  posted.give_back(endpoint().kernel(), *packet);
}

void IoCompleter::receive(Message& message) {
  const Time now = endpoint().now();
  endpoint().release(message, now);
  if (message.opcode == Opcode::kMWr) {
    take_posted(message);
    return;
  }
  const Time ready = now + io_time_;
  message.charge(Segment::kController, ready);
  endpoint().kernel().schedule(ready, events_->source, *this, 0, payload_of(message));
}

void IoCompleter::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  auto& message = object_of<Message>(payload);
  message.opcode = Opcode::kCplD;
  std::swap(message.source, message.destination);
  transmit(message, endpoint().now());
}

}  // namespace cxloom

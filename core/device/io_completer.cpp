#include "device/io_completer.hpp"

#include <utility>

#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "kernel/payload.hpp"

namespace cxloom {

IoCompleter::Events::Events(Kernel& kernel) : source(kernel.new_source()) {}

const IoRecord& IoCompleter::expect_io(NodeId initiator) {
  if (!events_) {
    events_ = std::make_unique<Events>(endpoint().kernel());
    endpoint().add(*this);
    endpoint().bind(Channel::kIo, *this);
  }
  if (posted_.size() <= initiator.index()) posted_.resize(initiator.index() + 1);
  posted_[initiator.index()] = std::make_unique<IoRecord>();
  return *posted_[initiator.index()];
}

// Nothing tells the initiator: nobody records what comes from one that is no `IoInitiator`.
void IoCompleter::take_posted(Message& message) {
  Pool<Request>& posted = endpoint().fabric().posted;
  Request* const packet = posted.find(message.tag);
  if (!packet || &packet->message != &message) {
    throw InternalError(name() + " got a posted write that was not taken from Fabric::posted");
  }
  const std::size_t from = message.source.index();
  if (from < posted_.size() && posted_[from])
    posted_[from]->add(packet->account, packet->created(), endpoint().now());
  posted.give_back(*packet);
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

void IoCompleter::open_window(Time now) {
  for (const auto& record : posted_) {
    if (record) record->open_window(now);
  }
}

void IoCompleter::close_window(Time now) {
  for (const auto& record : posted_) {
    if (record) record->close_window(now);
  }
}

}  // namespace cxloom

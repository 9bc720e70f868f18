#include "device/io_completer.hpp"

#include <utility>

namespace cxloom {

void IoCompleter::expect_io() {
  if (events_) return;
  events_ = std::make_unique<Events>(endpoint().kernel());
  endpoint().bind(Channel::kIo, *this);
}

void IoCompleter::receive(Message& message) {
  const Time now = endpoint().now();
  endpoint().release(message, now);
  if (message.opcode == Opcode::kMWr) {
    endpoint().fabric().roles.io_initiators.of(message.source)->delivered(message);
    return;
  }
  const Time ready = now + io_time_;
  message.charge(Segment::kController, ready);
  endpoint().kernel().schedule(ready, events_->source, *this, 0, reinterpret_cast<std::uintptr_t>(&message));
}

void IoCompleter::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  auto& message = *reinterpret_cast<Message*>(payload);
  message.opcode = Opcode::kCplD;
  std::swap(message.source, message.destination);
  transmit(message, endpoint().now());
}

}  // namespace cxloom

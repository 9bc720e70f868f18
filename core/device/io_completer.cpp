#include "device/io_completer.hpp"

#include <utility>

namespace cxloom {

void IoCompleter::serve(Message& message) {
  if (message.opcode == Opcode::kMWr) {
    fabric_.roles.io_initiators.of(message.source)->delivered(message);
    return;
  }
  const Time ready = kernel_.now() + io_time_;
  message.charge(Segment::kController, ready);
  kernel_.schedule(ready, source_, *this, 0, reinterpret_cast<std::uintptr_t>(&message));
}

void IoCompleter::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  auto& message = *reinterpret_cast<Message*>(payload);
  message.opcode = Opcode::kCplD;
  std::swap(message.source, message.destination);
  device_.complete_io(message);
}

}  // namespace cxloom

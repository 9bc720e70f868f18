#include "core/support/probe.hpp"

#include "component/component_time.hpp"

namespace cxloom::test {

void Probe::receive(Message& message) {
  arrivals.push_back({now(), &message, message.tail});
  if (!hoards_ && message.port < port_count()) port(message.port).release(message, now() + hold_);
}

void Probe::wake(std::uint8_t kind, std::uint64_t payload) { wakes.push_back({now(), kind, payload}); }

}  // namespace cxloom::test

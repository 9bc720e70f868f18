#include "component/memory_access.hpp"

#include "component/delivery_order.hpp"
#include "component/line_versions.hpp"
#include "component/replica_set.hpp"
#include "component/request_throttle.hpp"

namespace cxloom {

[[gnu::hot]] void send_to_memory(Agent& sender, Message& message, Time ready) {
  if (ReplicaSets* const replicas = sender.endpoint().system_context().replicas.get()) [[unlikely]] {
    if (RequestTaker* const taker = replicas->at_host(message)) return taker->take(message, ready);
  }
  RequestThrottle* const throttle = sender.endpoint().throttle();
  if (throttle && message.destination != sender.endpoint().id()) [[unlikely]] {
    throttle->send(message, ready);
  } else {
    sender.transmit(message, ready);
  }
}

InputError no_region(const AddressMap& map, std::uint64_t access, Address address) {
  return InputError({"access " + std::to_string(access) + " goes to an address that no region " +
                         (map.beyond().empty() ? "holds" : "holds which its device reaches"),
                     to_text(address),
                     map.described() + " (addresses: first-touch maps a program's pages there)",
                     {}});
}

}  // namespace cxloom

#include "device/switch/switching_endpoint.hpp"

#include "component/component_time.hpp"
#include "device/switch/core.hpp"

namespace cxloom {

SwitchingEndpoint::SwitchingEndpoint(const SwitchParams& params, const DeviceContext& context)
    : WithSwitchCore(params, context) {
  contain_switch();
}

void SwitchingEndpoint::receive(Message& message) {
  message.charge(Segment::kSwitching, now());
  if (message.destination != id() || core().keeps(message)) {
    pass_on(message);
  } else if (message.tail > Time{}) {
    const Time whole = now() + message.tail;
    message.tail = Time{};
    message.charge(Segment::kSerialization, whole);
    take_at(message, whole);
  } else {
    take(message);
  }
}

}  // namespace cxloom

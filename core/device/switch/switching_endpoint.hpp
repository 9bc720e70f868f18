// A switch that is an endpoint too: messages to the device itself go to its agents, all others through the
// core, and what the agents send as well.
#pragma once

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "device/switch/switch.hpp"

namespace cxloom {

/// Its measures are the switch's own, and those of its agents that no role gives.
class SwitchingEndpoint : public WithSwitchCore<Endpoint> {
 public:
  SwitchingEndpoint(const SwitchParams& params, const DeviceContext& context)
      : WithSwitchCore(params, context, context.system_context) {
    contain_switch();
  }

  /// Agents get whole messages, also where the switch forwards their heads.
  void receive(Message& message) final {
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

 protected:
  void pass_on(Message& message) override { core().forward(message); }
  void inject(Message& message) override { core().inject(message); }
};

}  // namespace cxloom

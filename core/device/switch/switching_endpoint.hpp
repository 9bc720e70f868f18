// A switch that is an endpoint too: messages to the device itself go to its agents, all others through the
// core, and what the agents send as well.
#pragma once

#include "component/endpoint.hpp"
#include "device/switch/switching_device.hpp"

namespace cxloom {

/// Its measures are the switch's own, and those of its agents that no role gives.
class SwitchingEndpoint : public WithSwitchCore<Endpoint> {
 public:
  SwitchingEndpoint(const SwitchParams& params, const DeviceContext& context);

  /// Agents get whole messages, also where the switch forwards their heads.
  void receive(Message& message) final;

 protected:
  void pass_on(Message& message) override { forward(message); }
  void inject(Message& message) override { send_own(message); }
};

}  // namespace cxloom

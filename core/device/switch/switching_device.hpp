// What devices that are switches derive from. The core of the switch stands behind a pointer, so that a
// device outside the tree does not see into it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "component/component.hpp"
#include "component/endpoint.hpp"
#include "device/context/context.hpp"
#include "device/switch/params.hpp"

namespace cxloom {

class SwitchCore;

/// A component with the core of a switch, and what the builder must know of it. Base is Component or
/// Endpoint.
template <class Base>
class WithSwitchCore : public Base {
 public:
  WithSwitchCore(const SwitchParams& params, const DeviceContext& context);
  ~WithSwitchCore() override;

  bool forwards() const override { return true; }
  bool is_switch() const override { return true; }
  bool arbitrates() const override;
  const KindSpec* arbitration() const override { return &params_.arbitration; }
  bool takes_heads() const override { return params_.forwarding == Forwarding::kCutThrough; }
  Time pipeline() const override { return params_.switching_time; }
  Time transit_time() const override { return params_.switching_time; }
  Time port_delay() const override { return params_.port_delay; }
  Bandwidth port_bandwidth() const override { return params_.port_bandwidth; }
  std::size_t max_ports() const override { return 0; }

  void start() override;
  void routes_changed(bool failed) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  std::string activity() const override;
  static std::vector<MeasureInfo> measures();

 protected:
  /// Passes on a message that has come in by a port, charged up to now.
  void forward(Message& message);
  /// Sends a message of its own, ready now: it queues like one that has come in by a port of its own.
  void send_own(Message& message);
  SwitchCore& core() { return *core_; }
  const SwitchCore& core() const { return *core_; }

 private:
  std::unique_ptr<SwitchCore> core_;
  SwitchParams params_;
};

template <>
WithSwitchCore<Component>::WithSwitchCore(const SwitchParams& params, const DeviceContext& context);
template <>
WithSwitchCore<Endpoint>::WithSwitchCore(const SwitchParams& params, const DeviceContext& context);
extern template class WithSwitchCore<Component>;
extern template class WithSwitchCore<Endpoint>;

/// A device that is a switch. It says itself what becomes of a message: most go on to `forward`.
class SwitchingDevice : public WithSwitchCore<Component> {
 public:
  SwitchingDevice(const SwitchParams& params, const DeviceContext& context);

  bool reroutes() const override { return true; }
  void take_back(Message& message) override;
};

/// A switch that is an endpoint too: messages to the device itself go to its agents, all others through the
/// core, and what the agents send as well. Its measures are the switch's own, and those of its agents that no
/// role gives.
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

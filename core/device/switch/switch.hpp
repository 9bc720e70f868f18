// A switch: any number of ports, a switching time, queues and arbitration.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/measure.hpp"
#include "component/component_time.hpp"
#include "device/context/context.hpp"
#include "device/switch/core.hpp"
#include "device/switch/virtual_switches.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

/// A component with the core of a switch, and what the builder must know of it. `around` is what a base needs
/// besides.
template <class Base>
class WithSwitchCore : public Base {
 public:
  template <class... Around>
  WithSwitchCore(const SwitchParams& params, const DeviceContext& context, Around&... around)
      : Base(context, around...), core_(params, *this, context.system_context), params_(params) {}

  bool forwards() const override { return true; }
  bool is_switch() const override { return true; }
  bool arbitrates() const override { return core_.arbitrates(); }
  const KindSpec* arbitration() const override { return &params_.arbitration; }
  bool takes_heads() const override { return params_.forwarding == Forwarding::kCutThrough; }
  Time pipeline() const override { return params_.switching_time; }
  Time transit_time() const override { return params_.switching_time; }
  Time port_delay() const override { return params_.port_delay; }
  Bandwidth port_bandwidth() const override { return params_.port_bandwidth; }
  std::size_t max_ports() const override { return 0; }

  void start() override {
    core_.start();
    Base::start();
  }
  void routes_changed(bool failed) override { core_.routes_changed(failed); }
  void open_window(Time at) override {
    core_.open_window(at);
    Base::open_window(at);
  }
  void close_window(Time at) override {
    core_.close_window(at);
    Base::close_window(at);
  }
  void report(MeasureSink& sink) const override {
    core_.report(sink);
    Base::report(sink);
  }
  void resources(ResourceSink& sink) const override {
    core_.resources(sink);
    Base::resources(sink);
  }
  std::string activity() const override {
    const std::string core = core_.activity();
    const std::string others = Base::activity();
    return core.empty() || others.empty() ? core + others : core + "; " + others;
  }
  static std::vector<MeasureInfo> measures() { return SwitchCore::measures(); }

 protected:
  SwitchCore& core() { return core_; }
  const SwitchCore& core() const { return core_; }

 private:
  SwitchCore core_;
  SwitchParams params_;
};

/// A device that is a switch. It says itself what becomes of a message: most go on to `core().forward`.
class SwitchingDevice : public WithSwitchCore<Component> {
 public:
  SwitchingDevice(const SwitchParams& params, const DeviceContext& context)
      : WithSwitchCore(params, context) {}

  bool reroutes() const override { return true; }
  void take_back(Message& message) override { core().take_back(message); }
};

/// What a switch with virtual switches counts.
struct VirtualSwitchCounts {
  std::uint64_t isolation_errors = 0;
  std::uint64_t removal_errors = 0;
};

class Switch final : public SwitchingDevice, public VirtualSwitching, private PortGuard {
 public:
  using Params = SwitchParams;
  Switch(const SwitchParams& params, const DeviceContext& context);

  void receive(Message& message) override {
    message.charge(Segment::kSwitching, now());
    if (core().guarded()) [[unlikely]] {
      forward_in_vcs(message);
    } else {
      core().forward(message);
    }
  }
  void foresee(std::uint8_t kind, std::uint64_t payload) const override {
    if (kind == Event::kArrival) core().foresee_message(object_of<Message>(payload));
  }
  VirtualSwitches& virtual_switches() override { return *virtual_; }

  void report(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  /// A request may not leave the virtual switch that it came to; an answer may leave any that it was not
  /// removed from.
  bool admits(const Message& message, std::uint16_t input, std::uint16_t output) const override;
  void refused_answer() override { ++counts_->removal_errors; }
  /// Passes it on if its ports belong together. Otherwise answers it, or makes an error of it.
  void forward_in_vcs(Message& message);

  std::unique_ptr<VirtualSwitches> virtual_;  // none: all ports belong together
  Windowed<VirtualSwitchCounts> counts_;
};

}  // namespace cxloom

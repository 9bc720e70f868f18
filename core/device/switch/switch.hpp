// A switch: any number of ports, a switching time, queues and arbitration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "component/component_time.hpp"
#include "component/replica_set.hpp"
#include "device/context/context.hpp"
#include "device/switch/core.hpp"
#include "device/switch/switching_device.hpp"
#include "device/switch/virtual_switches.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

/// What a switch with virtual switches counts.
struct VirtualSwitchCounts {
  std::uint64_t isolation_errors = 0;
  std::uint64_t removal_errors = 0;
};

class Switch final : public SwitchingDevice,
                     public VirtualSwitching,
                     public ReplicatorOwner,
                     private PortGuard {
 public:
  using Params = SwitchParams;
  Switch(const SwitchParams& params, const DeviceContext& context);

  [[gnu::hot]] void receive(Message& message) override {
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
  std::string why_no_replicator() const override;
  RequestTaker& begin_replicating(ReplicaSets& sets, std::uint32_t entries) override;

  void report(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  /// A request may not leave the virtual switch that it came to; an answer may leave any that it was not
  /// removed from.
  bool admits(const Message& message, std::uint16_t input, std::uint16_t output) const override;
  void refused_answer() override { ++counts_->removal_errors; }
  /// It says to the home of a line, or by it, what becomes of the copy that a cache has.
  bool is_about_held_line(const Message& message) const;
  /// Passes it on if its ports belong together. Otherwise answers it, or makes an error of it.
  void forward_in_vcs(Message& message);

  const SystemContext& system_context_;
  std::unique_ptr<VirtualSwitches> virtual_;  // none: all ports belong together
  Windowed<VirtualSwitchCounts> counts_;
  bool persists_ = false;  // it has a persist buffer
};

}  // namespace cxloom

// A host: makes requests, and may have memory and a home agent, which keeps its memory and that of devices
// coherent.
#pragma once

#include <memory>
#include <optional>

#include "base/measure_table.hpp"
#include "coherence/home/agent.hpp"
#include "device/io/completer.hpp"
#include "device/kinds/crashing_device.hpp"
#include "device/memory/controller.hpp"
#include "device/requester/params.hpp"
#include "device/requester/sequencer.hpp"

namespace cxloom {

struct HostParams : RequesterParams {
  std::optional<MemoryControllerParams> memory;
  std::optional<HomeAgentParams> home_agent;

  static void describe(Schema<HostParams>& schema);
  static void estimate(const HostParams& params, MemoryEstimate& memory);
};

class Host final : public CrashingDevice {
 public:
  using Params = HostParams;
  Host(const HostParams& params, const DeviceContext& context);

  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() {
    return joined(Sequencer::measures(), MemoryController::measures());
  }

 private:
  void lose_memory() override {
    if (home_agent_) home_agent_->failed();
    if (memory_) memory_->failed();
  }
  void serve_again() override {
    if (home_agent_) home_agent_->work_again();
    if (memory_) memory_->work_again();
  }

  Sequencer sequencer_;
  std::unique_ptr<MemoryController> memory_;  // none: it has no memory
  std::unique_ptr<HomeAgent> home_agent_;     // none: it keeps no memory coherent
  IoCompleter io_;
};

}  // namespace cxloom

#include "device/kinds/host.hpp"

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"

namespace cxloom {

void HostParams::estimate(const HostParams& params, MemoryEstimate& memory) {
  RequesterParams::estimate(params, memory);
  if (params.memory) {
    memory.add_below(
        "memory", [&](MemoryEstimate& inside) { MemoryControllerParams::estimate(*params.memory, inside); });
  }
  if (params.home_agent) {
    memory.add_below("home_agent",
                     [&](MemoryEstimate& inside) { HomeAgentParams::estimate(*params.home_agent, inside); });
  }
}

void HostParams::describe(Schema<HostParams>& schema) {
  schema.doc(
      "A host: makes the requests of its workload, and may have memory, its own, and keep memory coherent.");
  RequesterParams::describe_in(schema);
  schema.field("memory", &HostParams::memory)
      .default_text("none")
      .doc("Memory of its own, which it and devices use through the address map.");
  schema.field("home_agent", &HostParams::home_agent)
      .default_text("none")
      .doc(
          "Keeps its memory, and that of devices, coherent in regions with coherence: hdm-h: caches of "
          "devices ask it by CXL.cache (Type 1 and Type 2), and its own cache does.");
}

Host::Host(const HostParams& params, const DeviceContext& context)
    : CrashingDevice(context, context.system_context),
      sequencer_(params, *this, context),
      io_(params.io_time, *this) {
  system_context().set_root(id());
  if (params.memory) {
    memory_ = with_path("memory", [&] {
      return std::make_unique<MemoryController>(*params.memory, *this, context, !params.home_agent);
    });
  }
  if (memory_) memory_->bear_crashes();
  if (!params.home_agent) return;
  home_agent_ = with_path("home_agent", [&] {
    return std::make_unique<HomeAgent>(*params.home_agent, *this, context, context.victims, memory_.get());
  });
  if (memory_) memory_->put_behind(*home_agent_);
}

}  // namespace cxloom

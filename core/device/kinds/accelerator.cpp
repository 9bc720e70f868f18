#include "device/kinds/accelerator.hpp"

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"

namespace cxloom {

void AcceleratorMemoryParams::estimate(const AcceleratorMemoryParams& params, MemoryEstimate& memory) {
  CoherentMemoryParams::estimate(params, memory);
  if (params.bias)
    memory.add_below("bias", [&](MemoryEstimate& inside) { BiasParams::estimate(*params.bias, inside); });
}

void AcceleratorMemoryParams::describe(Schema<AcceleratorMemoryParams>& schema) {
  schema.doc("A memory controller and its media, and an agent if the memory is to be kept coherent.");
  CoherentMemoryParams::describe_in(schema);
  schema.field("bias", &AcceleratorMemoryParams::bias)
      .default_text("none")
      .doc(
          "Coherence of this memory by bias: regions of it may have coherence: hdm-d, and the device asks "
          "the host for lines that it may hold.");
  schema.rule(
      "a memory is kept coherent by back-invalidate snoops or by bias: dcoh or bias, not both",
      [](const AcceleratorMemoryParams& params) { return !params.dcoh || !params.bias; }, "bias");
}

void AcceleratorParams::estimate(const AcceleratorParams& params, MemoryEstimate& memory) {
  RequesterParams::estimate(params, memory);
  if (params.memory) {
    memory.add_below(
        "memory", [&](MemoryEstimate& inside) { AcceleratorMemoryParams::estimate(*params.memory, inside); });
  }
}

void AcceleratorParams::describe(Schema<AcceleratorParams>& schema) {
  schema.doc("An accelerator: makes the requests of its workload and may serve memory of its own.");
  RequesterParams::describe_in(schema);
  schema.field("memory", &AcceleratorParams::memory)
      .default_text("none")
      .doc("Memory of its own, which it and other devices use through the address map.");
}

Accelerator::Accelerator(const AcceleratorParams& params, const DeviceContext& context)
    : CrashingDevice(context, context.system_context),
      sequencer_(params, *this, context),
      io_(params.io_time, *this) {
  if (!params.memory) return;
  memory_ = with_path("memory", [&] {
    return std::make_unique<CoherentMemory>(*params.memory, *this, context,
                                            params.memory->bias ? &*params.memory->bias : nullptr);
  });
  memory_->controller().bear_crashes();
}

}  // namespace cxloom

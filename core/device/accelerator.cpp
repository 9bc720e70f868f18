#include "device/accelerator.hpp"

namespace cxloom {

void AcceleratorParams::estimate(const AcceleratorParams& params, MemoryEstimate& memory) {
  RequesterParams::estimate(params, memory);
  if (params.memory) {
    memory.add_below("memory",
                     [&](MemoryEstimate& inside) { CoherentMemoryParams::estimate(*params.memory, inside); });
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
    : Endpoint(context, context.fabric), sequencer_(params, *this, context), io_(params.io_time, *this) {
  if (!params.memory) return;
  memory_ = below("memory", [&] { return std::make_unique<CoherentMemory>(*params.memory, *this, context); });
}

}  // namespace cxloom

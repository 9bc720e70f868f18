#include "device/kinds/gpu.hpp"

#include "base/schema.hpp"

namespace cxloom {

void GpuParams::estimate(const GpuParams& params, MemoryEstimate& memory) {
  const std::uint64_t requests = std::uint64_t{params.tags} + params.posted;
  constexpr std::uint64_t kEach = 2 * sizeof(Request) + 128;
  memory.add("tags", std::to_string(params.tags), 1, requests * kEach);
}

void GpuParams::describe(Schema<GpuParams>& schema) {
  schema.doc(
      "A GPU: copies blocks between its memory and system memory by DMA. An access of its workload is a "
      "copy: a read to the GPU, a write from it.");
  DmaParams::describe_in(schema);
  schema.field("queue", &GpuParams::queue)
      .min(1)
      .max(1024)
      .doc(
          "Copies of its workload that a stream has at the same time. 1: the next one is called when the one "
          "before has ended, as by a program that waits for each.")
      .source("own choice: as a program that waits for each copy");
}

Gpu::Gpu(const GpuParams& params, const DeviceContext& context)
    : Endpoint(context, context.system_context), work_(params.queue, *this), engine_(params, *this, work_) {
  work_.use(engine_);
}

}  // namespace cxloom

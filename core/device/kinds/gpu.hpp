// A GPU: copies blocks between its memory and system memory by DMA.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory_estimate.hpp"
#include "device/context/context.hpp"
#include "device/io/dma_engine.hpp"
#include "device/requester/transfer_work.hpp"

namespace cxloom {

struct GpuParams : DmaParams {
  std::uint32_t queue = 1;

  static void describe(Schema<GpuParams>& schema);
  static void estimate(const GpuParams& params, MemoryEstimate& memory);
};

class Gpu final : public Endpoint {
 public:
  using Params = GpuParams;
  Gpu(const GpuParams& params, const DeviceContext& context);

  static std::vector<MeasureInfo> measures() { return TransferWork::measures(); }

 private:
  TransferWork work_;
  DmaEngine engine_;
};

}  // namespace cxloom

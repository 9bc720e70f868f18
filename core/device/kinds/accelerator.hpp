// An accelerator: makes requests like a host and may serve memory of its own, to itself and to others (then a
// Type 2 device, otherwise a Type 1 device).
#pragma once

#include <memory>
#include <optional>

#include "base/measure_table.hpp"
#include "device/io/completer.hpp"
#include "device/kinds/coherent_memory.hpp"
#include "device/kinds/crashing_device.hpp"
#include "device/requester/params.hpp"
#include "device/requester/sequencer.hpp"

namespace cxloom {

struct AcceleratorMemoryParams : CoherentMemoryParams {
  std::optional<BiasParams> bias;

  static void describe(Schema<AcceleratorMemoryParams>& schema);
  static void estimate(const AcceleratorMemoryParams& params, MemoryEstimate& memory);
};

struct AcceleratorParams : RequesterParams {
  std::optional<AcceleratorMemoryParams> memory;

  static void describe(Schema<AcceleratorParams>& schema);
  static void estimate(const AcceleratorParams& params, MemoryEstimate& memory);
};

class Accelerator final : public CrashingDevice {
 public:
  using Params = AcceleratorParams;
  Accelerator(const AcceleratorParams& params, const DeviceContext& context);

  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() {
    return joined(Sequencer::measures(), CoherentMemory::measures());
  }

 private:
  void lose_memory() override {
    if (memory_) memory_->failed();
  }
  void serve_again() override {
    if (memory_) memory_->work_again();
  }

  Sequencer sequencer_;
  std::unique_ptr<CoherentMemory> memory_;  // none: it has no memory
  IoCompleter io_;
};

}  // namespace cxloom

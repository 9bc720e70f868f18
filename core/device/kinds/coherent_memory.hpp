// Memory of a device, and the coherency agent before it if it has one.
#pragma once

#include <memory>
#include <optional>

#include "base/schema.hpp"
#include "coherence/home/bias_agent.hpp"
#include "coherence/home/dcoh.hpp"
#include "device/memory/controller.hpp"

namespace cxloom {

struct CoherentMemoryParams : MemoryControllerParams {
  std::optional<DcohParams> dcoh;

  static void describe(Schema<CoherentMemoryParams>& schema) {
    schema.doc(
        "A memory controller and its media, and a coherency agent if the memory is to be kept coherent.");
    describe_in(schema);
  }
  static void estimate(const CoherentMemoryParams& params, MemoryEstimate& memory) {
    MemoryControllerParams::estimate(params, memory);
    if (params.dcoh)
      memory.add_below("dcoh", [&](MemoryEstimate& inside) { DcohParams::estimate(*params.dcoh, inside); });
  }
  /// Declares these parameters in the schema of a device that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    MemoryControllerParams::describe_in(schema);
    schema.field("dcoh", &Params::dcoh)
        .default_text("none")
        .doc(
            "A coherency agent for this memory: regions of it may have coherence: hdm-db, and the caches "
            "that hold their lines are kept coherent by back-invalidate snoops.");
  }
};

class CoherentMemory {
 public:
  /// `bias`: null where the memory is not kept coherent by bias.
  CoherentMemory(const CoherentMemoryParams& params, Endpoint& endpoint, const DeviceContext& context,
                 const BiasParams* bias = nullptr)
      : controller_(params, endpoint, context, !params.dcoh && !bias) {
    if (params.dcoh) {
      agent_ = with_path("dcoh", [&] {
        return std::make_unique<Dcoh>(*params.dcoh, endpoint, context, context.victims, &controller_);
      });
    } else if (bias) {
      agent_ = with_path("bias", [&] {
        return std::make_unique<BiasAgent>(*bias, endpoint, context, context.victims, controller_);
      });
    }
    if (agent_) controller_.put_behind(*agent_);
  }

  MemoryController& controller() { return controller_; }
  /// Its device has failed.
  void failed() {
    if (agent_) agent_->failed();
    controller_.failed();
  }
  void work_again() {
    if (agent_) agent_->work_again();
    controller_.work_again();
  }
  static std::vector<MeasureInfo> measures() { return MemoryController::measures(); }

 private:
  MemoryController controller_;
  std::unique_ptr<Dcoh> agent_;  // none: its memory is kept coherent by others, or by nobody
};

}  // namespace cxloom

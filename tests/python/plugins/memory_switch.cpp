// A switch with memory in it: a device of a switch core and a memory controller.
#include <cxloom/memory.hpp>
#include <cxloom/switch.hpp>

namespace {

using namespace cxloom;

struct MemorySwitchParams : SwitchParams {
  MemoryControllerParams memory;

  static void describe(Schema<MemorySwitchParams>& schema) {
    schema.doc("A switch that holds memory.");
    describe_in(schema);
    schema.field("memory", &MemorySwitchParams::memory).doc("Its memory.");
  }
};

class MemorySwitch final : public SwitchingEndpoint {
 public:
  using Params = MemorySwitchParams;
  MemorySwitch(const MemorySwitchParams& params, const DeviceContext& context)
      : SwitchingEndpoint(params, context), controller_(params.memory, *this, context) {}
  static std::vector<MeasureInfo> measures() {
    return joined(SwitchingEndpoint::measures(), MemoryPart::measures());
  }

 private:
  MemoryPart controller_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.devices.add<MemorySwitch>("memory-switch"); }

#include "device/memory/part.hpp"

#include "device/memory/controller.hpp"

namespace cxloom {

MemoryPart::MemoryPart(const MemoryControllerParams& params, Endpoint& endpoint, const DeviceContext& context)
    : controller_(std::make_unique<MemoryController>(params, endpoint, context)) {}

MemoryPart::~MemoryPart() = default;

void MemoryPart::put_behind(MemoryFront& front) { controller_->put_behind(front); }

std::vector<MeasureInfo> MemoryPart::measures() { return MemoryController::measures(); }

}  // namespace cxloom

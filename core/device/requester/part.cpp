#include "device/requester/part.hpp"

#include "device/requester/sequencer.hpp"

namespace cxloom {

RequesterPart::RequesterPart(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context)
    : sequencer_(std::make_unique<Sequencer>(params, endpoint, context)) {}

RequesterPart::~RequesterPart() = default;

std::vector<MeasureInfo> RequesterPart::measures() { return Sequencer::measures(); }

}  // namespace cxloom

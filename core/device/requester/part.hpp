// The agent that makes requests, as a device has it that does not see into it.
#pragma once

#include <memory>
#include <vector>

#include "base/measure.hpp"
#include "device/context/context.hpp"
#include "device/requester/params.hpp"

namespace cxloom {

class Endpoint;
class Sequencer;

/// A Sequencer, which joins the device and takes the answers that come to it.
class RequesterPart {
 public:
  RequesterPart(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context);
  ~RequesterPart();

  static std::vector<MeasureInfo> measures();

 private:
  std::unique_ptr<Sequencer> sequencer_;
};

}  // namespace cxloom

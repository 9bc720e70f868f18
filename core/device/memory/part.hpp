// The agent that serves memory, as a device has it that does not see into it.
#pragma once

#include <memory>
#include <vector>

#include "base/measure.hpp"
#include "device/context/context.hpp"
#include "device/memory/params.hpp"

namespace cxloom {

class Endpoint;
class MemoryController;
class MemoryFront;

/// A MemoryController, which joins the device and takes the requests that come to it.
class MemoryPart {
 public:
  MemoryPart(const MemoryControllerParams& params, Endpoint& endpoint, const DeviceContext& context);
  ~MemoryPart();

  /// Its answers go to `front` from now on.
  void put_behind(MemoryFront& front);
  static std::vector<MeasureInfo> measures();

 private:
  std::unique_ptr<MemoryController> controller_;
};

}  // namespace cxloom

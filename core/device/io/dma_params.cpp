#include "device/io/dma_params.hpp"

namespace cxloom {

void DeviceMemoryParams::describe(Schema<DeviceMemoryParams>& schema) {
  schema.doc("The memory of a device at which its copies begin and end. Other devices do not access it.");
  schema.field("capacity", &DeviceMemoryParams::capacity)
      .min(Bytes{64})
      .doc("Bytes of it: a copy is no larger.")
      .source("NVIDIA A10 data sheet: 24 GB of GDDR6");
  schema.field("bandwidth", &DeviceMemoryParams::bandwidth)
      .doc("Bytes per second that all copies together read and write there.")
      .source("NVIDIA A10 data sheet: 600 GB/s");
  schema.field("latency", &DeviceMemoryParams::latency)
      .doc("Time of an access besides its bytes.")
      .source("assumed: microbenchmarks of GPUs have some hundred cycles of 1.5 to 2 GHz");
}

}  // namespace cxloom

// A memory expander (a Type 3 device): one port, a controller, media.
#pragma once

#include "device/io_completer.hpp"
#include "device/memory_controller.hpp"

namespace cxloom {

struct MemoryParams : MemoryControllerParams {
  Time io_time = kDefaultIoTime;

  static void describe(Schema<MemoryParams>& schema) {
    schema.doc("A memory expander: a controller and its media behind one port.");
    MemoryControllerParams::describe_in(schema);
    describe_io_time(schema, &MemoryParams::io_time);
  }
};

class Memory final : public Endpoint {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Endpoint(context, context.fabric), controller_(params, *this, context), io_(params.io_time, *this) {}

  static std::vector<MeasureInfo> measures() { return MemoryController::measures(); }

 private:
  MemoryController controller_;
  IoCompleter io_;
};

}  // namespace cxloom

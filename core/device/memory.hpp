// A memory expander (a Type 3 device): one port, a controller, media.
#pragma once

#include "device/coherent_memory.hpp"
#include "device/io_completer.hpp"

namespace cxloom {

struct MemoryParams : CoherentMemoryParams {
  Time io_time = kDefaultIoTime;

  static void describe(Schema<MemoryParams>& schema) {
    schema.doc("A memory expander: a controller and its media behind one port.");
    CoherentMemoryParams::describe_in(schema);
    describe_io_time(schema, &MemoryParams::io_time);
  }
};

class Memory final : public Endpoint {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Endpoint(context, context.fabric), memory_(params, *this, context), io_(params.io_time, *this) {}

  static std::vector<MeasureInfo> measures() { return CoherentMemory::measures(); }

 private:
  CoherentMemory memory_;
  IoCompleter io_;
};

}  // namespace cxloom

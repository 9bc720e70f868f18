// A memory expander (a Type 3 device): one port, a controller, media.
#pragma once

#include <memory>
#include <optional>

#include "device/coherent_memory.hpp"
#include "device/dynamic_capacity.hpp"
#include "device/io_completer.hpp"

namespace cxloom {

struct MemoryParams : CoherentMemoryParams {
  Time io_time = kDefaultIoTime;
  std::optional<DynamicCapacityParams> dynamic_capacity;

  static void describe(Schema<MemoryParams>& schema) {
    schema.doc("A memory expander: a controller and its media behind one port.");
    CoherentMemoryParams::describe_in(schema);
    describe_io_time(schema, &MemoryParams::io_time);
    schema.field("dynamic_capacity", &MemoryParams::dynamic_capacity)
        .default_text("none: all of it is everybody's")
        .doc(
            "Its capacity is given to hosts in extents, which come and go. An access outside the extents of "
            "its requester "
            "is answered with an error.");
    schema.rule(
        "memory of dynamic capacity is not kept coherent: leave out dcoh",
        [](const MemoryParams& memory) { return !memory.dynamic_capacity || !memory.dcoh; },
        "dynamic_capacity");
  }
};

class Memory final : public Endpoint {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Endpoint(context, context.fabric), memory_(params, *this, context), io_(params.io_time, *this) {
    if (params.dynamic_capacity)
      memory_.controller().give_in_extents(std::make_unique<DynamicCapacity>(*params.dynamic_capacity));
  }

  static std::vector<MeasureInfo> measures() { return CoherentMemory::measures(); }

 private:
  CoherentMemory memory_;
  IoCompleter io_;
};

}  // namespace cxloom

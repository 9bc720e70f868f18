// A memory expander (a Type 3 device): a port or several, a controller, media; as a whole or as logical
// devices.
#pragma once

#include <memory>
#include <optional>

#include "base/schema.hpp"
#include "device/io/completer.hpp"
#include "device/io/io_time.hpp"
#include "device/kinds/coherent_memory.hpp"
#include "device/memory/dynamic_capacity.hpp"

namespace cxloom {

struct MemoryParams : CoherentMemoryParams {
  Time io_time = kDefaultIoTime;
  std::optional<DynamicCapacityParams> dynamic_capacity;
  std::uint32_t heads = 1;

  static void describe(Schema<MemoryParams>& schema) {
    schema.doc("A memory expander: a controller and its media behind a port, or several (heads).");
    CoherentMemoryParams::describe_in(schema);
    describe_io_time(schema, &MemoryParams::io_time);
    schema.field("dynamic_capacity", &MemoryParams::dynamic_capacity)
        .default_text("none: all of it is everybody's")
        .doc(
            "Its capacity is given to hosts in extents, which come and go. An access outside the extents of "
            "its requester is answered with an error.");
    schema.rule(
        "memory of dynamic capacity is not kept coherent: leave out dcoh",
        [](const MemoryParams& memory) { return !memory.dynamic_capacity || !memory.dcoh; },
        "dynamic_capacity");
    schema.field("heads", &MemoryParams::heads)
        .min(1)
        .max(64)
        .doc(
            "Ports: a multi-headed device has a link for each of several hosts, or several to one. Answers "
            "leave by the port that leads to the requester.");
    schema.field("logical_devices", &MemoryParams::logical_devices)
        .doc(
            "Parts of the memory, at most 16, each of which belongs to one host or to any, with a queue of "
            "its own in front of the controller. A region of the address map lies within one of them (`ld`). "
            "The device is a multi-logical device (MLD).")
        .source("CXL 3.x: LD-IDs of 4 bits");
    schema.field("qos", &MemoryParams::qos)
        .default_text("none")
        .doc(
            "Reports its load with each answer, and requesters with a `throttle` go by it. Without it all "
            "answers say light.");
    schema.field("spares", &MemoryParams::spares)
        .doc(
            "Spare parts, such as rows, that take the place of others: with `spare` events, or after errors.")
        .source("CXL 3.x, maintenance operations: memory sparing, post package repair");
    schema.field("corrected_errors", &MemoryParams::corrected_errors)
        .default_text("none")
        .doc("Errors that the memory corrects in some parts. One with too many of them is spared.");
    describe_logical_rules(schema);
  }
  static void describe_logical_rules(Schema<MemoryParams>& schema);
};

class Memory final : public Endpoint {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context),
        heads_(params.heads),
        memory_(params, *this, context),
        io_(params.io_time, *this) {
    memory_.controller().bear_failures();
    if (params.dynamic_capacity)
      memory_.controller().give_in_extents(std::make_unique<DynamicCapacity>(*params.dynamic_capacity));
  }

  [[gnu::hot]] void receive(Message& message) override {
    if (failed_) [[unlikely]]
      return lose(message);
    Endpoint::receive(message);
  }
  void routes_changed(bool failed) override;
  void take_back(Message& message) override;

  std::size_t max_ports() const override { return heads_; }
  std::string_view ports_key() const override { return "heads"; }

  static std::vector<MeasureInfo> measures() { return CoherentMemory::measures(); }

 private:
  void lose(Message& message);

  std::uint32_t heads_;
  bool failed_ = false;
  CoherentMemory memory_;
  IoCompleter io_;
};

}  // namespace cxloom

// A memory expander (a Type 3 device): one port, a controller, media.
#pragma once

#include "device/device_context.hpp"
#include "device/memory_controller.hpp"
#include "device/memory_owner.hpp"

namespace cxloom {

struct MemoryParams : MemoryControllerParams {
  static void describe(Schema<MemoryParams>& schema) {
    schema.doc("A memory expander: a controller and its media behind one port.");
    MemoryControllerParams::describe_in(schema);
  }
};

class Memory final : public Component, public MemoryOwner, private MemoryController::Device {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Component(context),
        fabric_(context.fabric),
        controller_(params, context.media, context.kernel, *this, *this, context.seed) {}

  void start() override { controller_.set_address_map(fabric_.map); }
  void receive(Message& message) override { controller_.serve(message); }
  void open_window(Time at) override { controller_.open_window(at); }
  void close_window(Time at) override { controller_.close_window(at); }
  void report(MeasureSink& sink) const override { controller_.report(sink); }
  static std::vector<MeasureInfo> measures() { return MemoryController::measures(); }
  std::string activity() const override { return controller_.activity(); }
  Bytes memory_capacity() const override { return controller_.capacity(); }
  void report_memory(MeasureSink& sink) const override { controller_.report(sink); }

 private:
  void reply(Message& message, Time ready) override { port(0).send(message, ready); }
  void admitted(Message& message, Time at) override { port(0).release(message, at); }

  Fabric& fabric_;
  MemoryController controller_;
};

}  // namespace cxloom

// A memory expander (a Type 3 device): one port, a controller, media.
#pragma once

#include "device/device_context.hpp"
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

class Memory final : public Component,
                     public MemoryOwner,
                     public IoTarget,
                     private MemoryController::Device,
                     private IoCompleter::Device {
 public:
  using Params = MemoryParams;
  Memory(const MemoryParams& params, const DeviceContext& context)
      : Component(context),
        fabric_(context.fabric),
        io_time_(params.io_time),
        controller_(params, context.media, context.kernel, *this, *this, context.seed) {
    fabric_.roles.memories.declare(*this, id(), *this);
    fabric_.roles.io_targets.declare(*this, id(), *this);
  }

  void start() override { controller_.set_address_map(fabric_.map); }
  void expect_io() override {
    if (io_) return;
    io_ =
        std::make_unique<IoCompleter>(kernel(), fabric_, static_cast<IoCompleter::Device&>(*this), io_time_);
  }
  void receive(Message& message) override {
    if (message.channel == Channel::kIo) [[unlikely]] {
      port(0).release(message, now());
      io_->serve(message);
    } else {
      controller_.serve(message);
    }
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t payload) override {
    port(0).send(*reinterpret_cast<Message*>(payload), now());
  }
  void open_window(Time at) override { controller_.open_window(at); }
  void close_window(Time at) override { controller_.close_window(at); }
  void report(MeasureSink& sink) const override { controller_.report(sink); }
  static std::vector<MeasureInfo> measures() { return MemoryController::measures(); }
  std::string activity() const override { return controller_.activity(); }
  Bytes memory_capacity() const override { return controller_.capacity(); }
  double memory_queue_integral(Time now) override { return controller_.queue_integral(now); }
  bool memory_unlimited() const override { return controller_.unlimited(); }
  void report_memory(MeasureSink& sink) const override { controller_.report(sink); }
  Media* media() override { return &controller_.media(); }

 private:
  void reply(Message& message, Time ready) override {
    if (io_ && port(0).queues() && ready > now()) {  // a completion of CXL.io may be ready before
      wake_at(ready, 0, reinterpret_cast<std::uintptr_t>(&message));
    } else {
      port(0).send(message, ready);
    }
  }
  void admitted(Message& message, Time at) override { port(0).release(message, at); }
  void complete_io(Message& message) override { port(0).send(message, now()); }

  Fabric& fabric_;
  Time io_time_;
  std::unique_ptr<IoCompleter> io_;  // none: no CXL.io comes here
  MemoryController controller_;
};

}  // namespace cxloom

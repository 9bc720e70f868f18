// An accelerator (a Type 2 device): makes requests like a host and may serve memory of its own, to itself and
// to others.
#pragma once

#include "device/memory_controller.hpp"
#include "device/requester.hpp"

namespace cxloom {

struct AcceleratorParams : RequesterParams {
  std::optional<MemoryControllerParams> memory;

  static void describe(Schema<AcceleratorParams>& schema);
  static void estimate(const AcceleratorParams& params, MemoryEstimate& memory);
};

class Accelerator final : public Requester, public MemoryOwner, private MemoryController::Device {
 public:
  using Params = AcceleratorParams;
  Accelerator(const AcceleratorParams& params, const DeviceContext& context);

  std::size_t max_ports() const override { return 0; }
  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void close_window(Time at) override;
  void report(MeasureSink& sink) const override { Requester::report(sink); }
  void report_memory(MeasureSink& sink) const override;
  std::string activity() const override;
  Bytes memory_capacity() const override { return controller_ ? controller_->capacity() : Bytes{}; }
  double memory_queue_integral(Time now) override {
    return controller_ ? controller_->queue_integral(now) : 0.0;
  }
  bool memory_unlimited() const override { return controller_ && controller_->unlimited(); }
  Media* media() override { return controller_ ? &controller_->media() : nullptr; }

 private:
  // Beyond the wakes of the requester.
  static constexpr std::uint8_t kServe = 16;
  static constexpr std::uint8_t kAnswer = 17;

  void serve_locally(Message& message, Time ready) override;
  void reply(Message& message, Time ready) override;
  void admitted(Message& message, Time at) override;

  std::unique_ptr<MemoryController> controller_;  // none: a Type 1 device
};

}  // namespace cxloom

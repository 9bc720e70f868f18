// The part of a device that answers CXL.io, a completer in PCIe's words: it takes posted writes and completes reads.
#pragma once

#include "base/schema.hpp"
#include "device/device_context.hpp"

namespace cxloom {

inline constexpr Time kDefaultIoTime{100'000};

/// Declares how long a device works on a read of CXL.io.
template <class Params, class Base>
void describe_io_time(Schema<Params>& schema, Time Base::* io_time) {
  schema.field("io_time", io_time)
      .doc(
          "Time from the arrival of a read or configuration read of CXL.io until its completion may leave, "
          "in a "
          "pipeline.")
      .source("assumed: about that of a memory access");
}

class IoCompleter final : public EventHandler {
 public:
  /// The device around it.
  class Device {
   public:
    /// Sends a completion, which is ready now.
    virtual void complete_io(Message& message) = 0;

   protected:
    ~Device() = default;
  };

  IoCompleter(Kernel& kernel, Fabric& fabric, Device& device, Time io_time)
      : kernel_(kernel), source_(kernel.new_source()), fabric_(fabric), device_(device), io_time_(io_time) {}

  /// Takes a request that is out of its receive buffer.
  void serve(Message& message);
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  Kernel& kernel_;
  EventSource source_;
  Fabric& fabric_;
  Device& device_;
  Time io_time_;
};

}  // namespace cxloom

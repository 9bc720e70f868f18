// The parameters of a memory controller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "device/memory/corrected_errors_params.hpp"
#include "device/memory/logical_device_params.hpp"

namespace cxloom {

class MemoryEstimate;

/// When the receive buffer of a request is free, and its credit goes back.
enum class CreditRelease : std::uint8_t {
  kDrain,       ///< when the controller takes the request
  kCompletion,  ///< when the request is answered
};

/// From how many requests on a memory, or its logical device, says that it is loaded.
struct DeviceLoadParams {
  std::uint32_t optimal = 1;
  std::uint32_t moderate = 0;
  std::uint32_t severe = 0;

  static void describe(Schema<DeviceLoadParams>& schema);
};

struct MemoryControllerParams {
  static constexpr std::uint32_t kLargestBuffer = 65'536;
  static constexpr Bytes kCapacity{16ULL << 30U};  ///< where neither it nor the media say

  std::optional<Bytes> capacity;
  Time controller_time{40'000};
  std::optional<std::uint32_t> queue;
  std::optional<std::uint32_t> read_buffer;
  std::optional<std::uint32_t> write_buffer;
  bool posted_writes = false;
  CreditRelease credit_release = CreditRelease::kDrain;
  Time atomic_time{5'000};
  KindSpec media{"fixed", Value(Value::Map{})};
  // Only where a device declares them:
  std::optional<DeviceLoadParams> qos;
  std::vector<LogicalDeviceParams> logical_devices;
  std::uint32_t spares = 0;
  std::optional<CorrectedErrorsParams> corrected_errors;

  /// Reads and writes have places of their own.
  bool apart() const { return read_buffer || write_buffer; }

  static void describe(Schema<MemoryControllerParams>& schema);
  static void estimate(const MemoryControllerParams& params, MemoryEstimate& memory);
  /// Declares these parameters in the schema of a device that derives from them.
  static void describe_in(Schema<MemoryControllerParams> schema);
};

}  // namespace cxloom

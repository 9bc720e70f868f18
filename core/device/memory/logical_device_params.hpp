// The parameters of a logical device of a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

struct LogicalDeviceParams {
  static constexpr std::size_t kMost = 16;  ///< LD-IDs have 4 bits

  Bytes capacity;
  std::uint32_t allocated_bandwidth = 1;
  Bandwidth bandwidth_limit;
  Time limit_window{1'024'000};
  std::optional<std::uint32_t> queue;
  std::optional<std::string> host;

  static void describe(Schema<LogicalDeviceParams>& schema);
};
/// Throws InputError if they are too many, or have more bytes than the memory, if it says how many it has.
void check_logical_devices(const std::vector<LogicalDeviceParams>& all, const std::optional<Bytes>& capacity);

}  // namespace cxloom

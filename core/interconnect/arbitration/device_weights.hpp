// Weights of devices, by name: `weights: {host0: 3, "host[1-3]": 1}`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fair_share.hpp"
#include "base/value.hpp"

namespace cxloom {

struct DeviceWeights {
  static constexpr std::string_view kSchemaType = "weights";  ///< whose keys the front end spells out
  static constexpr std::uint32_t kMost = FairShare::kMostWeight;

  std::vector<std::pair<std::string, std::uint32_t>> by_name;  ///< in the order written

  bool operator==(const DeviceWeights& other) const = default;
};

/// Throws InputError unless it is a map of weights in [1, kMost]. Names are checked where devices are known.
void read_value(const Value& value, DeviceWeights& out);

}  // namespace cxloom

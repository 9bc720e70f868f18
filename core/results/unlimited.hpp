// What has no bandwidth of its own: messages pass it side by side and never wait, so that a bandwidth
// measured behind it is that of something else, or of nothing.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "results/collector.hpp"
#include "system/model/system.hpp"

namespace cxloom {

struct Unlimited {
  std::vector<std::string> links;  ///< directions: "host->bus"
  std::vector<std::string> buses;
  std::vector<std::string> memories;  ///< neither the media nor the controller's queue sets a bound

  bool any() const { return !links.empty() || !buses.empty() || !memories.empty(); }
  Value to_value() const;
  /// The first few of each, in one sentence.
  std::string note() const;
};

/// Entries of `unlimited`.
struct UnlimitedMeasured {
  Value links;
  Value buses;
  Value memories;
};

inline constexpr std::array kUnlimitedMeasures{
    measure<&UnlimitedMeasured::links>("links", "", "directions of links, by name"),
    measure<&UnlimitedMeasured::buses>("buses", "", "buses"),
    measure<&UnlimitedMeasured::memories>("memories", "",
                                          "memories: neither media nor the controller's queue sets a bound"),
};

/// Everything without a limit; where there is a collector, of that only what carried messages in the window
/// it saw.
Unlimited find_unlimited(const System& system, const Collector* collector);

}  // namespace cxloom

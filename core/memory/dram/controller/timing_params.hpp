// Timings and currents of a DRAM that differ from its preset's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/parameters.hpp"
#include "memory/dram/device/config.hpp"

namespace cxloom {

/// In clocks of the command clock, and that clock itself.
struct DramTimingParams : DramTimings<std::optional<std::uint32_t>> {
  std::optional<Time> tCK;  // NOLINT(readability-identifier-naming)

  static void describe(Schema<DramTimingParams>& schema);
};

struct DramCurrentParams : DramSupply<std::optional<double>> {
  static void describe(Schema<DramCurrentParams>& schema);
};

/// Puts what was written in place of the values of the preset.
void override_timing(DramDevice& device, const DramTimingParams& timing, const DramCurrentParams& currents);
/// Throws InputError for what was written and changes nothing in this configuration.
void check_use(const DramTimingParams& timing, const DramCurrentParams& currents, const DramConfig& config);
/// Throws InputError if timings contradict each other.
void check_timing(const DramConfig& config);
/// Refuses a value that somebody wrote and nothing will read; `key` is where, `allowed` what it needs.
[[noreturn]] void refuse_unused(const std::string& key, std::string_view allowed);

}  // namespace cxloom

// The parameters of non-volatile media, and published devices by name.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// Devices whose parameters are known; params.cpp has their values and sources.
enum class NvmPreset : std::uint8_t { kNvm100, kOptane };

/// The defaults are the preset `nvm-100-200`.
struct NvmMediaParams {
  NvmPreset preset = NvmPreset::kNvm100;
  Time read_latency{100'000};
  Time write_latency{200'000};
  std::uint32_t banks = 16;
  Bytes block{64};
  std::uint32_t write_buffer = 64;
  std::uint32_t hold = 0;
  std::uint32_t read_buffer = 0;
  Time buffer_write_latency{10'000};
  Time buffer_read_latency{10'000};
  Bandwidth read_bandwidth;
  Bandwidth write_bandwidth;
  std::optional<Bytes> wear_region;
  std::optional<std::uint64_t> endurance;

  static void describe(Schema<NvmMediaParams>& schema);
  static void estimate(const NvmMediaParams& params, MemoryEstimate& memory);
};

/// Reads the parameters that are written; all others come from the preset.
void read_value(const Value& value, NvmMediaParams& out);

}  // namespace cxloom

// The parameters of NAND flash, and published parts by name.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"
#include "memory/flash/geometry.hpp"

namespace cxloom {

/// Parts whose parameters are known; flash_params.cpp has their values and sources.
enum class FlashPreset : std::uint8_t { kTlc, kSlc, kZNand };
/// The operations that planes of a die overlap.
enum class FlashPlaneWork : std::uint8_t { kOne, kTogether, kIndependent };
enum class FlashWearLevelling : std::uint8_t { kNone, kDynamic, kStatic };

/// The defaults are the preset `tlc`.
struct FlashParams {
  FlashPreset preset = FlashPreset::kTlc;

  std::uint32_t channels = 8;
  std::uint32_t packages = 1;
  std::uint32_t dies = 2;
  std::uint32_t planes = 2;
  std::optional<std::uint32_t> blocks;
  std::uint32_t pages = 1152;
  Bytes page{16'384};
  Bytes sector{4096};

  Time read_time{75'000'000};
  Time program_time{900'000'000};
  Time erase_time{4'500'000'000};
  Time command_time{290'000};
  Bandwidth bus_bandwidth = parse_bandwidth("0.8GB/s");
  FlashPlaneWork plane_work = FlashPlaneWork::kTogether;

  double over_provisioning = 0.07;
  KindSpec collection{"greedy", Value(Value::Map{})};
  std::uint32_t free_blocks = 2;
  bool copyback = false;
  FlashWearLevelling wear_levelling = FlashWearLevelling::kDynamic;
  std::uint32_t wear_gap = 100;
  std::uint64_t endurance = 1000;

  std::uint32_t write_buffer = 64;
  std::uint32_t hold = 0;
  Time buffer_time{100'000};

  double filled = 1.0;
  double overwritten = 0.0;

  static void describe(Schema<FlashParams>& schema);
  static void estimate(const FlashParams& params, MemoryEstimate& memory);

  /// How it is built for a memory of this capacity, as written. Throws InputError if it is too small for
  /// that, or has not enough blocks to free one.
  FlashGeometry geometry(std::optional<Bytes> capacity) const;
};

/// Reads the parameters that are written; all others come from the preset.
void read_value(const Value& value, FlashParams& out);

}  // namespace cxloom

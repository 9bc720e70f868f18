// The parameters of NAND flash, and published parts by name.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// How flash is built: consecutive pages lie on different channels, then packages, dies and planes, so that
/// neighbours are moved at the same time.
struct FlashGeometry {
  std::uint32_t channels = 1;
  std::uint32_t packages = 1;  ///< of a channel
  std::uint32_t dies = 1;      ///< of a package
  std::uint32_t planes = 1;    ///< of a die
  std::uint32_t blocks = 1;    ///< of a plane
  std::uint32_t pages = 1;     ///< of a block
  std::uint32_t logical = 1;   ///< pages of the memory that a plane has; fewer than it can hold

  std::uint32_t all_dies() const { return channels * packages * dies; }
  std::uint32_t all_planes() const { return all_dies() * planes; }
  std::uint64_t logical_pages() const { return std::uint64_t{logical} * all_planes(); }

  /// Where a page of the memory lies: in which plane of all, and which of its pages it is.
  std::uint32_t plane_of(std::uint64_t page) const { return static_cast<std::uint32_t>(page % all_planes()); }
  std::uint32_t within(std::uint64_t page) const { return static_cast<std::uint32_t>(page / all_planes()); }
  std::uint32_t channel_of(std::uint32_t plane) const { return plane % channels; }
};

/// Parts whose parameters are known; params.cpp has their values and sources.
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

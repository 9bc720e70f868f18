// The parameters of a persist buffer, and the rules that it goes by.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// When the lines of a persist buffer are written to memory.
enum class DrainPolicy : std::uint8_t {
  kDrain,    ///< as soon as they are stored (PB)
  kForward,  ///< once many entries are Dirty: until then reads are answered from them (PB_RF)
};

struct PersistBufferParams {
  static constexpr std::uint64_t kEntryBytes = 256;  ///< of the machine's memory, about

  std::uint32_t entries = 16;
  Time tag_time{388};
  Time data_time{785};
  DrainPolicy policy = DrainPolicy::kDrain;
  double drain_from = 0.8;
  double drain_to = 0.6;
  std::optional<std::uint32_t> queue;

  static void describe(Schema<PersistBufferParams>& schema);

  /// A share of the entries, rounded down; a share a mere rounding below the next number is that number.
  std::uint32_t share(double fraction) const {
    return static_cast<std::uint32_t>(fraction * static_cast<double>(entries) + 1e-9);
  }
};

}  // namespace cxloom

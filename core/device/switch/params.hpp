// The parameters of a switch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "device/switch/persist_params.hpp"
#include "device/switch/vcs_params.hpp"

namespace cxloom {

class MemoryEstimate;

enum class Queueing : std::uint8_t {
  kOutput,         ///< a queue at each output, without limit: ideal output queueing
  kVirtualOutput,  ///< at each input a queue per output and class
  kFifo,           ///< at each input a queue per class: its head blocks what is behind it
};

enum class Forwarding : std::uint8_t { kCutThrough, kStoreAndForward };

struct SwitchParams {
  Bandwidth port_bandwidth;
  Time port_delay{25'000};
  Time switching_time{20'000};
  Forwarding forwarding = Forwarding::kCutThrough;
  Queueing queueing = Queueing::kOutput;
  KindSpec arbitration{"round-robin", Value(Value::Map{})};
  std::optional<PersistBufferParams> persist_buffer;
  std::vector<VcsParams> vcs;  ///< of a switch that has them

  static void estimate(const SwitchParams& params, MemoryEstimate& memory);
  static void describe(Schema<SwitchParams>& schema);
  /// Declares these in the schema of a device that derives from them.
  static void describe_in(Schema<SwitchParams> schema);
};

}  // namespace cxloom

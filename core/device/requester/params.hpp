// The parameters of what hosts and accelerators have in common: that they make requests.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "coherence/cache/params.hpp"
#include "component/throttle_params.hpp"
#include "device/io/io_time.hpp"
#include "device/requester/core_params.hpp"

namespace cxloom {

class MemoryEstimate;

/// The least that PCIe gives a completion.
inline constexpr Time kCompletionTimeout{50'000'000};

struct RequesterParams {
  // Out of line, for each device derives from them.
  RequesterParams();
  RequesterParams(const RequesterParams& other);
  RequesterParams& operator=(const RequesterParams& other);
  ~RequesterParams();

  Time process_time{10'000};
  std::uint32_t queue = 64;
  Time issue_interval;
  Time instruction_time;
  std::optional<Time> completion_timeout;
  std::optional<CoreParams> core;
  std::optional<CacheAgentParams> cache;
  bool external_cache = false;
  std::optional<ThrottleParams> throttle;
  std::uint32_t combining_buffers = 12;
  AtomicsAt atomics = AtomicsAt::kCache;
  Time io_time = kDefaultIoTime;

  static void estimate(const RequesterParams& params, MemoryEstimate& memory);
  /// Declares these in the schema of a device that derives from them.
  static void describe_in(Schema<RequesterParams> schema);
};

}  // namespace cxloom

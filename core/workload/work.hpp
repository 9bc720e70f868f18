// The work of one requester: what it accesses, how much of it, and when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/units.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

enum class Arrivals : std::uint8_t { kFixed, kPoisson };

struct Tiering;

struct Work {
  std::unique_ptr<AccessStream> stream;
  std::shared_ptr<const Tiering> tiering;  ///< none: its pages stay where they are placed, but for events
  std::uint64_t warmup = 0;                ///< accesses before the measured ones, at least
  std::optional<std::uint64_t> requests;   ///< measured accesses; none: to the end of the stream
  Rate rate;  ///< open loop: accesses become ready at this rate, whatever the answers do
  Arrivals arrivals = Arrivals::kFixed;
  std::optional<std::uint64_t> in_all;  ///< accesses, warm-up included, where that is known beforehand
  bool instruction_gaps = true;         ///< accesses say how many instructions lie between them
  bool flushes_anything = false;  ///< it is a program, which may flush lines of memory that is not durable
  bool shares = false;            ///< its flushes show lines to other requesters
  bool timestamps = false;        ///< open loop: accesses become ready at their own times
  std::string name;               ///< how the user calls it, for errors: "workload.host"

  /// Prefetchers of cores see it: a program's prefetches are among its records, and accesses that come at a
  /// rate of their own are left alone.
  bool shown_to_prefetchers() const { return !instruction_gaps && rate.unlimited(); }
};

}  // namespace cxloom

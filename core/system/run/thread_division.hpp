// How a system is divided among threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

struct Registry;
struct Spec;
class System;

struct ThreadDivision {
  std::vector<std::uint32_t> part_of;  ///< by node
  std::uint32_t parts = 1;
  std::uint32_t threads = 1;
  /// Events of a part in a window below which windows are merged: it takes about as long to bring threads
  /// together as to play so few. An estimate.
  std::uint32_t fewest_events = 50;
  Time lookahead;      ///< what happens in one part has no effect in another before
  std::string reason;  ///< why there are not as many parts as threads were asked for; empty: there are

  bool divides() const { return parts > 1; }
};

/// A division into so many parts of about the same work, cut where little goes across, or fewer where the
/// system has not so many. Devices stay with the switch that they hang on, and both ends of a link without
/// flight, or whose wire both directions share, in one part. One part, with the reason, where something of
/// the spec concerns all devices at times that nobody knows beforehand. Throws InputError for a spec of which
/// no system can be built.
ThreadDivision divide_system(const Registry& registry, const Spec& spec, std::uint32_t threads);

/// What may be divided so of a system that is built.
struct Divisible {
  std::uint32_t parts = 1;        ///< at most
  std::optional<Time> lookahead;  ///< the least of these parts; none: there is but one
  std::string reason;             ///< why there is one part; empty: there are more
};
Divisible divisible(const Registry& registry, const Spec& spec, const System& system);

/// As many parts as there can be: for tests, since it asks most of the seams between parts.
ThreadDivision divide_most(const Registry& registry, const Spec& spec);

}  // namespace cxloom

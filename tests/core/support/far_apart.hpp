// Accesses of several requesters that come so far apart that each is alone: what a flow costs when nothing
// else is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {

/// An access of a requester, at a time of its own: of the one before it 10 us later unless it says
/// `together`.
struct TimedStep {
  std::string requester;
  std::uint64_t address;
  AccessKind kind;
  bool together = false;  ///< at the time of the one before it
};

inline constexpr Time kApart{10'000'000};

/// What each requester replays, in the order of the steps, and a last access of each to `elsewhere`, so that
/// the window stays open for the steps of all.
inline void replay_apart(SpecBuilder& system, const std::vector<std::string>& requesters,
                         const std::vector<TimedStep>& steps, std::uint64_t elsewhere) {
  for (std::size_t r = 0; r < requesters.size(); ++r) {
    std::vector<Access> accesses;
    Time at;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i > 0 && !steps[i].together) at += kApart;
      if (steps[i].requester != requesters[r]) continue;
      Access access = access_to(steps[i].address, steps[i].kind);
      if (access.kind == AccessKind::kAtomic) access.size = kAtomicBytes;
      access.timed = true;
      access.timestamp = at;
      accesses.push_back(access);
    }
    Access last = access_to(elsewhere + kLineBytes * r);
    last.timed = true;
    last.timestamp = at + kApart;
    accesses.push_back(last);
    system.replay(requesters[r], accesses, {{"replay", "timestamps"}});
  }
}

/// The row of each step, once the system has been played.
inline std::vector<std::size_t> rows_of(const Running& run, const std::vector<TimedStep>& steps) {
  std::vector<std::size_t> rows(steps.size());
  Time at;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && !steps[i].together) at += kApart;
    for (std::size_t row = 0; row < run.table().rows(); ++row) {
      const NodeId requester = run.node(steps[i].requester);
      if (run.created(row) == at && run.table().requester[row] == requester.index() &&
          run.table().address[row] == steps[i].address)
        rows[i] = row;
    }
  }
  return rows;
}

}  // namespace cxloom::test

#include "system/work/checks.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "system/work/share_groups.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

void check_closed_loop(const Spec::Workload& workload, const Requester& requester) {
  const bool timed = workload.params.replay == Replay::kTimestamps;
  if (!requester.traits().has_cores || !(workload.params.rate || timed)) return;
  throw InputError({timed ? "replay: timestamps beside a core" : "a rate beside a core",
                    {},
                    "one of the two: a core makes accesses as soon as it can",
                    {}},
                   "workload." + workload.device + (timed ? ".replay" : ".rate"));
}

void check_engines(const Spec::Workload& workload, const std::vector<PhasedStream::Phase>& phases,
                   bool cores) {
  for (const PhasedStream::Phase& phase : phases) {
    if (!phase.stream->reactive()) continue;
    const std::string what = phase.stream->reactive()->what();
    const bool shared = shares(workload);
    const auto refuse = [](std::string problem, std::string found, const char* allowed, const char* key) {
      throw InputError({std::move(problem), std::move(found), allowed, {}, InputError::Kind::kBetween}, key);
    };
    if (!workload.params.phases.empty())
      refuse(what + " is no phase of other work", {}, "a pattern of its own", "phases");
    if (workload.params.threads > 1) {
      refuse(what + " has no threads", counted(workload.params.threads, "thread"),
             shared ? "threads: 1" : "threads: 1, and descriptors for several at a time", "threads");
    }
    if (cores) {
      refuse(what + " has no instructions for a core", "a requester with a core",
             "another pattern, or a requester of its own without a core", "pattern");
    }
    if (workload.params.rate) {
      refuse(what + " makes its accesses as their answers let it", "a rate",
             shared ? "no rate" : "no rate; setup for the time between descriptors", "rate");
    }
  }
}

// Only traces, and accesses from outside, have instruction gaps; who has a workload gets none from outside.
void check_instruction_time(const Spec::Workload& workload, const Requester& requester) {
  if (workload.params.trace || !requester.traits().times_instructions) return;
  throw InputError({"instruction_time has no effect unless the workload is a trace, with instruction gaps",
                    {},
                    "issue_interval to space the accesses of a pattern",
                    {},
                    InputError::Kind::kNoEffect},
                   "devices." + workload.device + ".instruction_time");
}

bool ignores_instruction_time(const Requester& requester) {
  return requester.has_work() && requester.traits().times_instructions &&
         !requester.progress().has_instruction_gaps;
}

bool drops_instruction_gaps(const Requester& requester) {
  if (!requester.has_work()) return false;
  const auto traits = requester.traits();
  const auto progress = requester.progress();
  return progress.has_instruction_gaps && !traits.times_instructions && !traits.has_cores &&
         !progress.open_loop;
}

std::string note_on_dropped_gaps(const std::string& device) {
  return "the instructions between the accesses of workload." + device + " took no time: set devices." +
         device + ".core, or .instruction_time, to play the instruction gaps of its trace";
}

void check_instruction_gaps(const std::string& device, const Requester& requester) {
  if (!ignores_instruction_time(requester)) return;
  throw InputError({"instruction_time has no effect: the accesses of this trace have no instruction gaps",
                    {},
                    "a trace with instruction gaps, or issue_interval to space its accesses",
                    {},
                    InputError::Kind::kNoEffect},
                   "devices." + device + ".instruction_time");
}

namespace {

/// By address, those that follow each other as one.
std::vector<AddressMap::Extent> without_borders(std::vector<AddressMap::Extent> extents) {
  std::ranges::sort(extents, {}, [](const AddressMap::Extent& each) { return each.base; });
  std::vector<AddressMap::Extent> merged;
  for (const AddressMap::Extent& each : extents) {
    if (!merged.empty() && merged.back().base.value() + merged.back().bytes == each.base.value()) {
      merged.back().bytes += each.bytes;
    } else {
      merged.push_back(each);
    }
  }
  return merged;
}

// What is certain to be answered with an error is a mistake. Of a trace the addresses show only during the
// run.
void check_owners(const AddressRange& range, const AddressMap& map, const std::string& device) {
  const auto other = map.foreign(range.base, range.bytes, device);
  if (!other) return;
  throw InputError(
      {"the footprint reaches memory that belongs to another device",
       to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
       "addresses outside of logical device " + std::to_string(other->ld) + " of '" + other->memory +
           "', which belongs to '" + other->owner + "': it has " + to_text(other->at),
       {},
       InputError::Kind::kBetween},
      std::string(other->at == range.base ? range.key : "footprint"));
}

}  // namespace

void check_footprint(const AddressRange& range, const AddressMap& map, const std::string& device) {
  const std::vector<AddressMap::Extent> extents = without_borders(map.extents());
  const auto behind =
      std::ranges::upper_bound(extents, range.base, {}, [](const auto& each) { return each.base; });
  const auto offset = [&](const AddressMap::Extent& extent) {
    return range.base.value() - extent.base.value();
  };
  const bool begins_inside =
      behind != extents.begin() && offset(*std::prev(behind)) < std::prev(behind)->bytes;
  const std::uint64_t room = begins_inside ? std::prev(behind)->bytes - offset(*std::prev(behind)) : 0;
  if (range.bytes <= room) return check_owners(range, map, device);
  const auto fits = [&](const AddressMap::Extent& extent) { return range.bytes <= extent.bytes; };
  const auto next = std::ranges::find_if(behind, extents.end(), fits);
  const bool in_hole = begins_inside && behind != extents.end();
  std::string allowed = "addresses in " + map.described();
  if (next != extents.end()) allowed += "; set " + std::string(range.key) + ": " + to_text(next->base);
  if (in_hole) {
    allowed += "; or a footprint of " + to_text(Bytes{room}) +
               "; or addresses: first-touch, whose pages go to both sides of it";
  }
  const bool fits_somewhere = std::ranges::any_of(extents, fits);
  throw InputError({in_hole ? "the footprint runs into a hole of the address map"
                            : "the footprint runs out of the address map",
                    to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
                    allowed,
                    {},
                    InputError::Kind::kBetween},
                   std::string(!begins_inside || (fits_somewhere && !in_hole) ? range.key : "footprint"));
}

}  // namespace cxloom

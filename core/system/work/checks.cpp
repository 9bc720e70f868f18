#include "system/work/checks.hpp"

#include <string>
#include <utility>

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
    const auto refuse = [](const char* problem, std::string found, const char* allowed, const char* key) {
      throw InputError({problem, std::move(found), allowed, {}, InputError::Kind::kBetween}, key);
    };
    if (!workload.params.phases.empty())
      refuse("a copy engine is no phase of other work", {}, "a pattern of its own", "phases");
    if (workload.params.threads > 1) {
      refuse("a copy engine has no threads", counted(workload.params.threads, "thread"),
             "threads: 1, and descriptors for several at a time", "threads");
    }
    if (cores) {
      refuse("a copy engine has no instructions for a core", "a requester with a core",
             "another pattern, or a requester of its own without a core", "pattern");
    }
    if (workload.params.rate) {
      refuse("a copy engine makes its accesses as their answers let it", "a rate",
             "no rate; setup for the time between descriptors", "rate");
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

}  // namespace cxloom

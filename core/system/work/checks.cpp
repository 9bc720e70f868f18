#include "system/work/checks.hpp"

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

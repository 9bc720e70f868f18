#include "system/work/notes.hpp"

#include <cstdint>

#include "device/requester/requester.hpp"
#include "system/model/system.hpp"
#include "system/work/checks.hpp"

namespace cxloom {

std::vector<std::string> notes_on_work(const System& system, const RunCircumstances& run) {
  std::vector<std::string> notes;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!requester->has_work()) continue;
    const std::string name = "workload." + component->name();
    // What comes from outside, or was cut short, could have had gaps yet.
    if (!run.cut_short && !run.from_outside && ignores_instruction_time(*requester)) {
      notes.push_back("devices." + component->name() +
                      ".instruction_time had no effect: the accesses of its trace have no instruction gaps");
    }
    if (drops_instruction_gaps(*requester)) notes.push_back(note_on_dropped_gaps(component->name()));
    const Requester::Progress progress = requester->progress();
    if (const std::uint64_t flushes = progress.volatile_flushes; flushes > 0) {
      notes.push_back(name + " flushed lines of volatile memory " + std::to_string(flushes) +
                      (flushes == 1 ? " time" : " times") +
                      ": they were written back, which makes nothing durable");
    }
    const std::uint64_t issued = progress.issued;
    const std::uint64_t before = progress.issued_before_window;
    if (const auto wanted = progress.expected; wanted && issued < *wanted) {
      notes.push_back(name + " ended after " + std::to_string(issued) + " of " + counted(*wanted, "request") +
                      ", warm-up included: " +
                      (progress.goes_by_answers ? "lines that could not be read were not written"
                                                : "its trace has no more"));
    }
    if (progress.trace_ended && (run.timed_window ? before == issued : before > progress.warmup)) {
      notes.push_back(name + " made " + std::to_string(before) + " of the " + counted(issued, "request") +
                      " of its trace before the window opened; " + std::to_string(issued - before) +
                      (issued - before == 1 ? " is" : " are") +
                      " left to be measured, more with a shorter run.warmup");
    }
  }
  return notes;
}

}  // namespace cxloom

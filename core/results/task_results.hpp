// What became of a graph of tasks: times, the critical path, and who used which link.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/value.hpp"

namespace cxloom {

class Simulation;

/// What became of one task.
struct TaskMeasured {
  Value kind;
  Value lane;
  std::optional<double> start;
  std::optional<double> end;
  Value waited_for;
  std::uint64_t bytes = 0;
  std::optional<Value> failed;
};

inline constexpr std::array kTaskMeasures{
    measure<&TaskMeasured::kind>("kind", "", "compute, copy or kernel"),
    measure<&TaskMeasured::lane>(
        "lane", "", "the processor, the stream of a DMA engine, or the set of threads that did it"),
    measure<&TaskMeasured::start>("start_ns", "ns", "when it started. Absent if it did not"),
    measure<&TaskMeasured::end>("end_ns", "ns", "when it ended. Absent if it did not"),
    measure<&TaskMeasured::waited_for>("waited_for", "",
                                       "the task whose end let it start; null if it started at once"),
    measure<&TaskMeasured::bytes>("bytes", "", "that it was to copy, or of a kernel to read and write"),
    measure<&TaskMeasured::failed>("failed", "",
                                   "true if some of these were answered with an error. Absent otherwise"),
};

struct LaneMeasured {
  std::uint64_t tasks = 0;
  double busy = 0;
};

inline constexpr std::array kLaneMeasures{
    measure<&LaneMeasured::tasks>("tasks", "", "tasks that have ended"),
    measure<&LaneMeasured::busy>("busy_ns", "ns", "the sum of their times"),
};

/// A task of the critical path.
struct PathMeasured {
  Value task;
  double time = 0;
};

inline constexpr std::array kPathMeasures{
    measure<&PathMeasured::task>("task", "", "its name"),
    measure<&PathMeasured::time>("time_ns", "ns", "from its start to its end"),
};

/// A transfer of a set that ran together.
struct TransferMeasured {
  Value transfer;
  double rate = 0;
};

inline constexpr std::array kTransferMeasures{
    measure<&TransferMeasured::transfer>("transfer", "", "what sort it is of, and which memories it uses"),
    measure<&TransferMeasured::rate>("gb_per_s", "GB/s", "its rate"),
};

/// A set of transfers in a window of lines.
struct WindowMeasured {
  Value transfers;
  double error = 0;
  double stood = 0;
  Value used;
};

inline constexpr std::array kWindowMeasures{
    measure<&WindowMeasured::transfers>("transfers", "", "which ran together, one after the other",
                                        parts_of<kTransferMeasures>(true)),
    measure<&WindowMeasured::error>(
        "relative_error", "", "how far a rate may be off, with 99 % confidence; of the set the largest"),
    measure<&WindowMeasured::stood>("stood_for_ns", "ns", "the time that was passed over by these rates"),
    measure<&WindowMeasured::used>("used", "", "how often it was"),
};

struct GraphMeasured {
  double time = 0;
  double error = 0;
  double skipped = 0;
  Value per_task;
  Value critical_path;
  Value per_lane;
  Value per_link;
  Value windows;
};

inline constexpr std::array kGraphMeasures{
    measure<&GraphMeasured::time>("time_ns", "ns", "from the start of the graph to the end of its last task"),
    measure<&GraphMeasured::error>(
        "error_ns", "ns",
        "how far that may be from what a simulation of every line gives, from the scatter of the windows; 0 "
        "if every line was"),
    measure<&GraphMeasured::skipped>(
        "skipped_ns", "ns",
        "the part of the time in which lines moved at known rates, or nothing did but processors, and that "
        "was not simulated"),
    measure<&GraphMeasured::per_task>("per_task", "", "what became of each, by its name",
                                      parts_of<kTaskMeasures>(true)),
    measure<&GraphMeasured::critical_path>(
        "critical_path", "",
        "the tasks of which each started with the end of the one before, up to the last to end, with their "
        "times, which sum to time_ns",
        parts_of<kPathMeasures>(true)),
    measure<&GraphMeasured::per_lane>("per_lane", "", "by processor, stream and set of threads",
                                      parts_of<kLaneMeasures>(true)),
    measure<&GraphMeasured::per_link>(
        "per_link", "",
        "by direction of a link, the bytes of each object that crossed it for tasks that have ended, on the "
        "shortest ways; nothing of caches"),
    measure<&GraphMeasured::windows>(
        "windows", "",
        "of each set of transfers that ran together, in a window of lines: their rates, how far off these "
        "may be, and for how long they stood",
        parts_of<kWindowMeasures>(true)),
};

/// `kGraphMeasures` of a simulation with tasks; nothing: it has none.
std::optional<Value> tasks_of(const Simulation& simulation);

}  // namespace cxloom

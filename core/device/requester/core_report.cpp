#include "device/requester/core_report.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/measure_table.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

namespace {

// Measures of all threads, of one, or of the critical path: each table has its part of them.
struct CoreMeasured {
  std::uint64_t threads = 0;
  std::uint64_t instructions = 0;
  double begun = 0;
  double on_path = 0;
  double time = 0;
  double longest = 0;
  std::optional<double> instructions_a_cycle;
  std::optional<double> fill_buffers;
  double busy = 0;
  double chain = 0;
  double mshr = 0;
  std::optional<double> walk;  // of cores with a TLB
  double idle = 0;
  std::optional<double> kernel;  // where it took some
  Value memory;
  std::optional<Value> waits;  // of a machine that says whose its accesses are
  std::optional<Value> path;
  std::optional<Value> per_thread;
};

constexpr MeasureInfo kBusy{"busy_ns", "ns", "time of instructions where nothing waits for memory"};
constexpr MeasureInfo kChain{
    "chain_ns", "ns",
    "time of computing between the answer to one access and another that needs it, and of filling the "
    "reorder window again after a wait"};
constexpr MeasureInfo kMshr{"mshr_ns", "ns",
                            "time in which an access that is waited for waited for others to be answered"};
constexpr MeasureInfo kWalk{"walk_ns", "ns",
                            "time in which the oldest instruction waited for a page walk that went "
                            "beyond the caches of its core, or for a walker. Absent without a tlb"};
constexpr MeasureInfo kIdle{"idle_ns", "ns", "time in which threads had nothing to do"};
constexpr MeasureInfo kKernel{"kernel_ns", "ns",
                              "time that the kernel took for moving the program's pages. Absent if none"};
constexpr MeasureInfo kMemory{
    "memory_ns", "ns",
    "time in which the oldest instruction waited for an answer, divided among the segments of that "
    "request's latency"};

template <auto kMember>
constexpr auto part(const MeasureInfo& info) {
  return measure<kMember>(info.name, info.unit, info.meaning);
}

constexpr std::array kPathMeasures{
    measure<&CoreMeasured::instructions>("instructions", "", "its instructions"),
    measure<&CoreMeasured::time>("time_ns", "ns", "that the following sum to"),
    part<&CoreMeasured::busy>(kBusy),
    part<&CoreMeasured::chain>(kChain),
    part<&CoreMeasured::mshr>(kMshr),
    part<&CoreMeasured::walk>(kWalk),
    part<&CoreMeasured::idle>(kIdle),
    part<&CoreMeasured::kernel>(kKernel),
    part<&CoreMeasured::memory>(kMemory),
};

constexpr std::array kThreadMeasures{
    measure<&CoreMeasured::begun>("begun_ns", "ns", "when another thread let it begin"),
    measure<&CoreMeasured::on_path>("on_path_ns", "ns", "time of the critical path in this thread"),
    measure<&CoreMeasured::instructions>("instructions", "", "its instructions"),
    measure<&CoreMeasured::time>("time_ns", "ns", "when it ended, which the following sum to"),
    part<&CoreMeasured::busy>(kBusy),
    part<&CoreMeasured::chain>(kChain),
    part<&CoreMeasured::mshr>(kMshr),
    part<&CoreMeasured::walk>(kWalk),
    part<&CoreMeasured::idle>(kIdle),
    part<&CoreMeasured::kernel>(kKernel),
    part<&CoreMeasured::memory>(kMemory),
};

constexpr std::array kCoreMeasures{
    measure<&CoreMeasured::threads>("threads", "", "threads that ran, each on a core of its own"),
    measure<&CoreMeasured::instructions>("instructions", "", "instructions of all threads in the window"),
    measure<&CoreMeasured::time>("time_ns", "ns",
                                 "time of all threads in the window, which the following sum to"),
    measure<&CoreMeasured::longest>("longest_ns", "ns",
                                    "time of the thread with the most of it in the window"),
    measure<&CoreMeasured::instructions_a_cycle>("instructions_per_cycle", "",
                                                 "instructions / cycles of all threads"),
    part<&CoreMeasured::busy>(kBusy),
    part<&CoreMeasured::chain>(kChain),
    part<&CoreMeasured::mshr>(kMshr),
    part<&CoreMeasured::walk>(kWalk),
    part<&CoreMeasured::idle>(kIdle),
    part<&CoreMeasured::kernel>(kKernel),
    part<&CoreMeasured::memory>(kMemory),
    measure<&CoreMeasured::waits>(
        "waits_ns", "ns",
        "time of all threads but busy_ns, idle_ns and kernel_ns, by the process of the access that was "
        "waited for: 1 is the kernel, 0 not told. Absent where no access says its process, as only those of "
        "a booted machine do"),
    measure<&CoreMeasured::fill_buffers>(
        "fill_buffers_mean", "",
        "fill buffers that misses of instructions take, of all cores, mean over time. Absent without "
        "fill_buffers"),
    measure<&CoreMeasured::path>(
        "critical_path", "",
        "where the time of the run went: of the thread that ended last from when it waited last, of the "
        "thread that it waited for up to when that let it go on, and so forth to the start. Absent with "
        "one thread, or with a warm-up",
        parts_of<kPathMeasures>()),
    measure<&CoreMeasured::per_thread>(
        "per_thread", "",
        "where the time of each thread went, by its number. Absent with one thread, or with a warm-up",
        parts_of<kThreadMeasures>(true)),
};

struct ClusterMeasured {
  Value core;
};

constexpr std::array kClusterMeasures{
    measure<&ClusterMeasured::core>("core", "", "where the time of its cores went. Absent without a core",
                                    parts_of<kCoreMeasures>()),
};

CoreMeasured measured_of(const CoreTime& time, bool has_tlb) {
  CoreMeasured measured{.instructions = time.instructions,
                        .time = time.total.ns(),
                        .busy = time.busy.ns(),
                        .chain = time.chain.ns(),
                        .mshr = time.mshr.ns(),
                        .idle = time.idle.ns()};
  if (has_tlb || time.walk > Time{}) measured.walk = time.walk.ns();
  if (time.kernel > Time{}) measured.kernel = time.kernel.ns();
  Value::Map memory;
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    if (time.memory[i] != Time{}) memory.emplace_back(kSegments[i].name, time.memory[i].ns());
  }
  measured.memory = std::move(memory);
  return measured;
}

Value per_thread(const CoresInWindow& cores) {
  Value::Map threads;
  for (const ThreadInWindow& thread : cores.threads) {
    CoreMeasured measured = measured_of(thread.time, cores.has_tlb);
    measured.begun = thread.begun.ns();
    measured.on_path = thread.on_path.ns();
    threads.emplace_back(std::to_string(thread.number), map_of(kThreadMeasures, measured));
  }
  return threads;
}

std::optional<Value> waits_of(const std::vector<Time>& by_process) {
  if (by_process.size() <= kKernelProcess) return std::nullopt;
  Value::Map waits;
  for (std::size_t i = 0; i < by_process.size(); ++i) {
    if (by_process[i] != Time{}) waits.emplace_back(std::to_string(i), by_process[i].ns());
  }
  return waits;
}

}  // namespace

std::vector<MeasureInfo> core_measures() { return infos_of(kClusterMeasures); }

void report_cores(const CoresInWindow& cores, MeasureSink& sink) {
  CoreTime sum;
  Time longest;
  for (const ThreadInWindow& thread : cores.threads) {
    sum += thread.time;
    longest = std::max(longest, thread.time.total);
  }
  CoreMeasured measured = measured_of(sum, cores.has_tlb);
  measured.threads = cores.threads.size();
  measured.longest = longest.ns();
  measured.fill_buffers = cores.fill_buffers;
  measured.waits = waits_of(cores.waits);
  if (sum.total > Time{}) {
    const double cycles = sum.total.ns() * 1e-9 * cores.clock.rate.per_second();
    measured.instructions_a_cycle = static_cast<double>(sum.instructions) / cycles;
  }
  if (cores.path) {
    measured.path = map_of(kPathMeasures, measured_of(*cores.path, cores.has_tlb));
    measured.per_thread = per_thread(cores);
  }
  report_all(kClusterMeasures, {map_of(kCoreMeasures, measured)}, sink);
}

}  // namespace cxloom

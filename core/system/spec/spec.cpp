#include "system/spec/spec.hpp"

#include <algorithm>
#include <bit>

#include "base/schema.hpp"
#include "system/kinds/registry.hpp"
#include "system/spec/section.hpp"

namespace cxloom {

void UntilParams::describe(Schema<UntilParams>& schema) {
  schema.doc("When a run ends before its work does.");
  schema.field("ci", &UntilParams::ci)
      .fraction([](double ci) { return ci > 0.0 && ci <= 1.0; }, "more than 0 %, at most 100 %")
      .default_text("never")
      .doc(
          "As soon as the mean latency is known to this share of itself: half of its 95 % interval / the "
          "mean. `requests` are the most that are made.");
}

void RouteParams::describe(Schema<RouteParams>& schema) {
  schema.doc("An entry of a routing table of your own.");
  schema.field("at", &RouteParams::at)
      .required()
      .doc("Where the message is: a switch or a bus, or a device with several links.");
  schema.field("to", &RouteParams::to)
      .required()
      .where([](const auto& names) { return !names.empty(); }, "one device or more")
      .doc("Where it is to go.");
  schema.field("by", &RouteParams::by)
      .required()
      .where([](const auto& names) { return !names.empty(); }, "one neighbour or more")
      .doc("Neighbours of `at` that it may go by; `routing` chooses among several.");
}

void RunParams::describe(Schema<RunParams>& schema) {
  schema.doc("How the simulation is run.");
  schema.field("warmup", &RunParams::warmup)
      .doc(
          "Requests of each requester before the measured ones; they come first and are extra. Who has made "
          "them goes on until the others have.");
  schema.field("warmup_time", &RunParams::warmup_time)
      .default_text("when all have made their warm-up requests")
      .doc("Simulated time at which the measured window opens, instead of a number of warm-up requests.");
  schema.rule(
      "warmup and warmup_time are two ways to say the same: leave one out",
      [](const RunParams& run) { return run.warmup == 0 || !run.warmup_time; }, "warmup_time");
  schema.field("seed", &RunParams::seed).doc("Of all random streams. Same spec and seed: the same results.");
  schema.field("routing", &RunParams::routing)
      .category("routing")
      .doc("Which of equally short ways a message takes.");
  schema
      .choice("route_by", &RunParams::route_by,
              {{"hops", RouteMetric::kHops},
               {"latency", RouteMetric::kLatency},
               {"up-down", RouteMetric::kUpDown}})
      .doc(
          "Which ways are taken: those of fewest links, those of least unloaded latency of a line of data, "
          "or those that lead up towards a root and then down, which no messages can block in a circle.");
  schema.field("routes", &RunParams::routes)
      .default_text("none: all routes are found")
      .doc(
          "Entries of a routing table of your own; the others are found. Refused if they lead in a circle, "
          "or if messages may block each other for ever.");
  schema.field("until", &RunParams::until)
      .default_text("the end of the work")
      .doc("When the run ends before its work does.");
  schema.field("livelock_deliveries", &RunParams::livelock_deliveries)
      .min(1)
      .doc(
          "Messages that links deliver without a completed request after which the run is given up as a "
          "livelock. Each link of a message's way counts.");
  schema.field("threads", &RunParams::threads)
      .doc(
          "Threads that play the simulation, at most: the system is divided among them at its links. auto: "
          "one for each processor. Results are the same for any number, to the byte.");
}

void read_value(const Value& value, ThreadCount& out) {
  const std::int64_t* const number = value.as_integer();
  const std::string* const text = value.as_text();
  const bool known = number ? *number >= 1 && *number <= ThreadCount::kMost : text && *text == "auto";
  if (!known)
    throw InputError({"not a number of threads",
                      value.described(),
                      "1 to " + std::to_string(ThreadCount::kMost) + ", or auto",
                      {}});
  out.count = number ? static_cast<std::uint32_t>(*number) : 0;
}

std::string to_text(const ThreadCount& threads) {
  return threads.count == 0 ? "auto" : std::to_string(threads.count);
}

void OutputParams::describe(Schema<OutputParams>& schema) {
  schema.doc("What is written besides the summary.");
  schema.field("requests", &OutputParams::requests)
      .doc("A row for every measured request, with its segments: requests.parquet.");
  schema.field("series", &OutputParams::series)
      .min(Time{1000})
      .default_text("none")
      .doc(
          "Interval of the utilisation and queue occupancy of each link, bus and memory over time: "
          "series.parquet.");
  schema.field("commands", &OutputParams::commands)
      .doc(
          "A row for every command of the DRAM of all memories, from the beginning of the run: "
          "commands.parquet. At least one memory must have media of kind dram.");
  schema.field("mix_windows", &OutputParams::mix_windows)
      .doc(
          "Requests of a window in which the mix of reads and writes is set against the bandwidth, in "
          "mix_windows of the summary; 0: there is none.");
  schema.field("versions", &OutputParams::versions)
      .doc(
          "Whether hosts, persist buffers and memories carry versions of the lines of persistent memory, so "
          "that old data are seen: versions of the summary. Of replicated memory, too: replication of the "
          "summary.");
  schema.field("sharing", &OutputParams::sharing)
      .doc(
          "Whether stores to volatile memory that nobody keeps coherent are numbered, so that reads which "
          "miss one are seen, and write-backs over one: sharing of the summary.");
}

void WorkloadParams::describe(Schema<WorkloadParams>& schema) {
  schema.doc("What a requester does: a pattern, a trace or phases.");
  schema.field("pattern", &WorkloadParams::pattern)
      .category("patterns")
      .default_text("")
      .doc("The kind of access pattern.");
  schema.field("trace", &WorkloadParams::trace)
      .default_text("")
      .doc("A trace file to replay, relative to the spec's folder.");
  schema.field("requests", &WorkloadParams::requests)
      .min(1)
      .default_text("the whole trace, or one round of the phases")
      .doc("Measured requests of all threads together; the warm-up is extra.");
  schema.field("threads", &WorkloadParams::threads)
      .min(1)
      .max(1U << 16U)
      .doc(
          "Threads that do what the pattern, or the phases, say, each with random streams, a queue and a "
          "core of its own.");
  schema.field("shared_footprint", &WorkloadParams::shared_footprint)
      .doc(
          "Whether each thread goes to all of the footprint. Otherwise it has a part of its own, of equal "
          "size, one behind the other.");
  schema.effective(
      "threads", [](const WorkloadParams& work) { return !work.trace; },
      "with a trace, which has threads of its own");
  schema.effective(
      "shared_footprint", [](const WorkloadParams& work) { return work.threads > 1; }, "of a single thread");
  schema.field("rate", &WorkloadParams::rate)
      .default_text("closed loop")
      .doc(
          "Open loop: requests become ready at this rate, whether or not earlier ones are answered. Without "
          "it a request is issued when the queue has room.");
  schema
      .choice("arrivals", &WorkloadParams::arrivals,
              {{"fixed", Arrivals::kFixed}, {"poisson", Arrivals::kPoisson}})
      .doc("Of an open loop: equal or exponentially distributed times between requests.");
  schema
      .choice("replay", &WorkloadParams::replay,
              {{"closed", Replay::kClosed}, {"timestamps", Replay::kTimestamps}})
      .doc("Of a trace: as fast as the queue allows, or each access at its own time.");
  schema.field("tick", &WorkloadParams::tick)
      .default_text("none")
      .doc(
          "How long a tick of a trace takes whose times count ticks or cycles, such as 625ps, 416.667ps or "
          "2.4GHz. Needed with replay: timestamps, as such a trace does not say it.");
  schema.field("levels", &WorkloadParams::levels)
      .default_text("")
      .doc(
          "Of a trace of Ramulator 2 with coordinates: how many channels, ranks, bank groups, banks, rows "
          "and columns of 64 B there are, such as [1, 2, 8, 4, 65536, 128].");
  schema.field("format", &WorkloadParams::format)
      .default_text("what the content says")
      .doc("The form of the trace, where its content could be of several: see trace-format.md.");
  schema.field("repeat", &WorkloadParams::repeat)
      .doc(
          "How often the trace is played, one after the other: a number, or forever, where `requests`, "
          "run.until or a time limit ends the run. Times go on from the last one.");
  schema.field("addresses", &WorkloadParams::addresses)
      .category("placements")
      .doc(
          "as-is: addresses are physical. Otherwise they are the program's own, and where its pages go: each "
          "gets a frame of memory when it is first touched.");
  schema.field("page", &WorkloadParams::page)
      .min(Bytes{kLineBytes})
      .where([](const Bytes& value) { return std::has_single_bit(value.count()); }, "a power of two")
      .doc("Bytes of a page, of all programs whose pages are placed.")
      .source("4 KiB: x86-64; its huge pages have 2 MiB and 1 GiB");
  schema.effective(
      "page", [](const WorkloadParams& work) { return work.places_pages(); },
      "while addresses are as-is: pages are not placed");
  schema
      .choice("frames", &WorkloadParams::frames,
              {{"scattered", FrameLayout::kScattered}, {"contiguous", FrameLayout::kContiguous}})
      .doc(
          "The order in which memory gives its frames, to all programs whose pages are placed. scattered: "
          "without a pattern, as on a machine that has run for a while: what is side by side in a program "
          "is not so in memory, beyond a page. contiguous: one behind the other, as they are asked for.");
  schema.effective(
      "frames", [](const WorkloadParams& work) { return work.places_pages(); },
      "while addresses are as-is: pages are not placed");
  schema
      .choice("touched", &WorkloadParams::touched,
              {{"before", Touched::kBefore}, {"during", Touched::kDuring}})
      .doc(
          "When the pages of a pattern are touched first. before: all of its footprint, in the order of "
          "addresses, before the run, as a program does that fills its data in. during: each by the first "
          "access to it.");
  schema.effective(
      "touched", [](const WorkloadParams& work) { return !work.trace && work.places_pages(); },
      "with a trace, whose program touches its pages as it runs, or while addresses are as-is");
  schema.field("page_tables", &WorkloadParams::page_tables)
      .category("placements")
      .default_text("as addresses")
      .where([](const KindSpec& value) { return value.kind != "as-is"; }, "a placement of pages")
      .doc(
          "Of a trace of a program that was recorded for a core with a tlb: where the pages of its page "
          "tables go.")
      .source(
          "Linux takes them by the policy of the task, as data (pte_alloc_one in "
          "include/asm-generic/pgalloc.h)");
  schema.effective(
      "page_tables", [](const WorkloadParams& work) { return work.trace && work.places_pages(); },
      "without a trace, or while addresses are as-is: pages are not placed");
  schema.field("tiering", &WorkloadParams::tiering)
      .category("tiering")
      .default_text("none: pages stay where they are placed")
      .doc("Which pages the kernel moves to another memory while the program runs, and when.");
  // A rule, and no effect, which may be left out where `addresses` is set over it: a run without it is
  // another experiment.
  schema.rule(
      "tiering has no effect while addresses are as-is: pages are not placed; set addresses to a placement, "
      "or tiering to null",
      [](const WorkloadParams& work) { return !work.tiering || work.places_pages(); }, "tiering");
  schema.field("kernel", &WorkloadParams::kernel).doc("What the kernel's work on pages costs the program.");
  schema.effective(
      "kernel", [](const WorkloadParams& work) { return work.tiering.has_value(); },
      "without tiering: the kernel moves no pages");
  schema.field("phases", &WorkloadParams::phases)
      .default_text("")
      .doc("Patterns that follow each other, each for its own `requests`, over and over.");
  schema.rule("exactly one of pattern, trace and phases is needed", [](const WorkloadParams& work) {
    return static_cast<int>(work.pattern.has_value()) + static_cast<int>(work.trace.has_value()) +
               static_cast<int>(!work.phases.empty()) ==
           1;
  });
  schema.rule("a pattern needs `requests`",
              [](const WorkloadParams& work) { return !work.pattern || work.requests; });
  schema.effective(
      "arrivals", [](const WorkloadParams& work) { return work.rate.has_value(); },
      "without a rate, at which requests arrive: set rate");
  schema.effective(
      "replay", [](const WorkloadParams& work) { return work.trace && !work.rate; },
      "without a trace, or beside a rate");
  schema.effective(
      "tick", [](const WorkloadParams& work) { return work.replay == Replay::kTimestamps; },
      "without replay: timestamps");
  for (const char* of_a_trace : {"levels", "format", "repeat"}) {
    schema.effective(
        of_a_trace, [](const WorkloadParams& work) { return work.trace.has_value(); }, "without a trace");
  }
}

namespace {

std::vector<std::string> field_names(const SchemaInfo& info) {
  std::vector<std::string> names;
  for (const FieldInfo& field : info.fields) names.push_back(field.name);
  return names;
}

}  // namespace

Spec::Link LinkReader::read(const Value& value) {
  const Value* between = value.find("between");
  const Value::List* ends = between ? between->as_list() : nullptr;
  if (!ends || ends->size() != 2 || !(*ends)[0].as_text() || !(*ends)[1].as_text()) {
    throw InputError(
        {"not a pair of devices", between ? between->described() : "nothing", "between: [host, bus]", {}},
        "between");
  }
  Value::Map rest;
  for (const auto& [key, item] : *value.as_map()) {
    if (key != "between") rest.emplace_back(key, item);
  }
  return {*(*ends)[0].as_text(), *(*ends)[1].as_text(), params_of(std::move(rest))};
}

std::shared_ptr<const LinkParams> LinkReader::params_of(Value written) {
  if (!params_ || written != written_) {
    params_ = std::make_shared<const LinkParams>(read_params<LinkParams>(written));
    written_ = std::move(written);
  }
  return params_;
}

std::string indexed(const std::string& key, std::size_t index) {
  return key + "[" + std::to_string(index) + "]";
}

Spec::Workload read_workload(const std::string& device, const Value& value, const Registry& registry) {
  const Value::Map* map = value.as_map();
  if (!map)
    throw InputError(
        {"not a workload", value.described(), "{pattern: ..., requests: ...} or {trace: FILE}", {}});
  static const std::vector<std::string> common = field_names(schema_info<WorkloadParams>());
  Value::Map own;
  Value::Map rest;
  for (const auto& entry : *map) {
    (std::find(common.begin(), common.end(), entry.first) != common.end() ? own : rest).push_back(entry);
  }
  ErrorList errors;
  Spec::Workload workload{device, {}, Value(rest)};
  errors.attempt([&] { workload.params = read_params<WorkloadParams>(own); });
  const Value* pattern = value.find("pattern");  // its keys are known, whatever is wrong with the others
  const std::string* kind = pattern ? pattern->as_text() : nullptr;
  std::vector<std::string> allowed = common;
  std::string owner = "this workload";
  if (kind) {
    const auto* entry = registry.patterns.find(*kind);
    if (!entry) {
      errors.add(registry.patterns.unknown(*kind, "pattern"));
      errors.raise();
    }
    const std::vector<std::string> of_pattern = field_names(entry->info);
    allowed.insert(allowed.end(), of_pattern.begin(), of_pattern.end());
    owner = "pattern " + *kind;
  }
  for (const auto& [key, item] : rest) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    std::string problem = "unknown key '";
    problem.append(key).append("' for ").append(owner);
    errors.add(InputError({problem, {}, list_names(allowed), nearest_name(key, allowed)}, key));
  }
  errors.raise();
  return workload;
}

Spec::Workload read_phase(const std::string& device, const Value& value, const Registry& registry) {
  Spec::Workload phase = read_workload(device, value, registry);
  ErrorList errors;
  if (!phase.params.pattern) errors.add(InputError({"a phase needs a pattern", {}, {}, {}}));
  static const std::vector<std::string> common = field_names(schema_info<WorkloadParams>());
  for (const auto& [key, item] : *value.as_map()) {
    if (key == "pattern" || key == "requests" || std::ranges::find(common, key) == common.end()) continue;
    errors.add(InputError({"no key of a phase, but of all of the workload",
                           item.described(),
                           "beside `phases`: " + key,
                           {},
                           InputError::Kind::kNoEffect},
                          key));
  }
  errors.raise();
  return phase;
}

Spec Spec::read(const Value& value, const Registry& registry) {
  return read_spec(value, registry, spec_sections());
}

}  // namespace cxloom

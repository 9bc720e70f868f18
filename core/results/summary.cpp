#include "results/summary.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/measure.hpp"
#include "device/sequencer.hpp"
#include "interconnect/flit_monitor.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/link_measures.hpp"
#include "results/unlimited.hpp"

namespace cxloom {

const std::vector<MeasureDefinition>& measure_definitions() {
  static const std::vector<MeasureDefinition> definitions{
      {"requests", "", "requests completed in the measured window, cache hits included"},
      {"reads", "", "of these, reads"},
      {"writes", "", "of these, writes"},
      {"write_backs", "",
       "dirty lines written back to memory in the window; they are messages, not requests"},
      {"failed", "",
       "of the requests, those answered with an error because a link was down; they move nothing"},
      {"failed_write_backs", "", "dirty lines that were lost because a link on their way to memory was down"},
      {"simulated_time_ns", "ns",
       "length of the measured window. It opens when every requester is warm, that is, when the last one "
       "issues "
       "its first request after the warm-up, and closes when the first requester has run out of work: as "
       "many "
       "of its requests have completed since the window opened as it was to measure"},
      {"bandwidth_gb_per_s", "GB/s",
       "payload bytes exchanged with memory by the requests and write-backs completed in the window / its "
       "length; 10^9 "
       "bytes per second; cache hits move nothing"},
      {"latency_ns", "ns",
       "latency of the requests completed in the window. The clock starts when the request exists: at its "
       "scheduled time in "
       "an open loop, when it takes its queue slot in a closed loop; it stops when the answer is with the "
       "requester. ci95 are the ends of the 95 % interval of the mean, by batch means; null where there are "
       "too "
       "few requests to tell"},
      {"breakdown_ns", "ns", "mean of each segment of the latency; they sum to latency_ns.mean"},
      {"mean_hops", "", "links crossed by a request and its answer, mean"},
      {"per_requester", "", "measures of each host and accelerator with work"},
      {"per_memory", "",
       "measures of each memory. Its requests are those that it served: not hits of a cache, misses that "
       "waited for the "
       "line of another, and what failed on the way. Its reads and writes are the accesses completed: those "
       "of its "
       "requests (a miss reads a line) and write-backs"},
      {"per_io", "",
       "measures of each I/O engine, whose payload counts in no other bandwidth but those of wires"},
      {"per_link", "", "measures of each direction of each link"},
      {"per_switch", "", "measures of each switch and bus"},
      {"coherence", "", "measures of coherence; empty: nothing here is coherent yet"},
      {"unlimited", "",
       "what carried messages and had no limit of bandwidth: directions of links, buses, memories"},
      {"stationary", "",
       "whether the mean latencies of the halves of the window agree: differ by less than 1 %, or by less "
       "than "
       "chance makes them in 99 of 100 steady runs; null where there are too few requests to tell"},
      {"completed", "", "whether every request was answered"},
      {"truncated", "", "whether the run was stopped before its end: the measures cover what there was"},
      {"stop_reason", "", "why the run ended"},
      {"notes", "", "what the user should know of the run, a sentence each"},
      {"seed", "", "of all random streams"},
  };
  return definitions;
}

namespace {

double window_length(const Simulation& simulation) {
  return (simulation.window_end() - simulation.window_start()).ns();
}

double rate(std::uint64_t bytes, double nanoseconds) {
  return nanoseconds > 0.0 ? static_cast<double>(bytes) / nanoseconds : 0.0;
}

// What there were no requests to tell by is absent: a null, with the same keys.
Value mean_of(double sum, std::uint64_t count) {
  return count > 0 ? Value(sum / static_cast<double>(count)) : Value();
}

Value latency_of(const LatencyDistribution& latency) {
  const auto known = [&](double value) { return latency.count() > 0 ? Value(value) : Value(); };
  return Value::Map{{"mean", known(latency.mean_ns())},        {"min", known(latency.minimum().ns())},
                    {"p50", known(latency.quantile_ns(0.5))},  {"p90", known(latency.quantile_ns(0.9))},
                    {"p99", known(latency.quantile_ns(0.99))}, {"p999", known(latency.quantile_ns(0.999))},
                    {"max", known(latency.maximum().ns())}};
}

// With the interval of the mean, or a null where it is not known.
Value latency_of(const LatencyDistribution& latency, const BatchMeans& batches) {
  Value::Map measures = *latency_of(latency).as_map();
  Value interval;
  if (const auto precision = batches.precision(latency.count())) {
    const double half_width = precision->half_width / 1000.0;
    interval = Value::List{std::max(0.0, latency.mean_ns() - half_width), latency.mean_ns() + half_width};
  }
  measures.insert(measures.begin() + 1, {"ci95", std::move(interval)});
  return measures;
}

Value latency_of(const RequestStatistics& statistics) {
  return latency_of(statistics.latency, statistics.batches);
}

Value breakdown_of(const std::array<Wide, kSegmentCount>& sums_ps, std::uint64_t requests) {
  Value::Map breakdown;
  for (const Segment segment : kPathOrder) {
    const auto i = static_cast<std::size_t>(segment);
    breakdown.emplace_back(std::string(kSegments[i].name),
                           mean_of(static_cast<double>(sums_ps[i]) / 1000.0, requests));
  }
  return breakdown;
}

Value kind_summary(const RequestStatistics& statistics, double length) {
  return Value::Map{{"requests", number(statistics.latency.count())},
                    {"bandwidth_gb_per_s", rate(statistics.payload, length)},
                    {"latency_ns", latency_of(statistics)},
                    {"breakdown_ns", breakdown_of(statistics.segment_sums_ps, statistics.latency.count())}};
}

class ValueSink final : public MeasureSink {
 public:
  explicit ValueSink(Value::Map& map) : map_(map) {}
  void add(const MeasureInfo& measure, double value) override {
    map_.emplace_back(std::string(measure.name), value);
  }
  void count(const MeasureInfo& measure, std::uint64_t value) override {
    map_.emplace_back(std::string(measure.name), number(value));
  }

 private:
  Value::Map& map_;
};

template <class Counts, class Names>
Value table_of(const Names& names, const Counts& counts) {
  Value::Map table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[i] != 0) table.emplace_back(std::string(names[i]), static_cast<double>(counts[i]));
  }
  return table;
}

// Of the bytes of all flits, the shares that each use has; they sum to 1. Data and trailers take 16 B a slot, and what is
// left of the slots' bytes goes to the other uses by their slots, for header slots are a little shorter.
Value byte_shares_of(const FlitTotals& totals, FlitMode mode) {
  const FlitGeometry& flit = geometry(mode);
  const auto slots_of = [&](SlotKind kind) {
    return static_cast<double>(totals.slots[static_cast<std::size_t>(kind)]);
  };
  const auto flits_of = [&](FlitKind kind) {
    return static_cast<double>(totals.flits[static_cast<std::size_t>(kind)]);
  };
  double slots = 0.0;
  for (const std::uint64_t each : totals.slots) slots += static_cast<double>(each);
  double flits = 0.0;
  for (const std::uint64_t each : totals.flits) flits += static_cast<double>(each);
  const double with_slots = slots / flit.slots;
  const double data = kChunkBytes * slots_of(SlotKind::kData);
  const double trailers = kChunkBytes * slots_of(SlotKind::kTrailer);
  const double others = slots - slots_of(SlotKind::kData) - slots_of(SlotKind::kTrailer);
  const double of_other = others > 0.0 ? (with_slots * flit.slot_bytes - data - trailers) / others : 0.0;
  const double all = flits * flit.bytes;
  const auto io = static_cast<double>(totals.io_bytes);
  const double retry = (flits - with_slots - flits_of(FlitKind::kIo)) * flit.bytes;
  const double overhead = all - with_slots * flit.slot_bytes - io - retry;
  const auto share = [&](double bytes) { return all > 0.0 ? bytes / all : 0.0; };
  return Value::Map{{"data", share(data)},
                    {"headers", share(of_other * slots_of(SlotKind::kHeader))},
                    {"trailers", share(trailers)},
                    {"mac", share(of_other * slots_of(SlotKind::kMac))},
                    {"empty", share(of_other * (slots_of(SlotKind::kEmpty) + slots_of(SlotKind::kControl)))},
                    {"io", share(io)},
                    {"retry", share(retry)},
                    {"overhead", share(overhead)}};
}

Value flits_of(const FlitMonitor& flits, double length) {
  const FlitTotals& totals = flits.totals();
  constexpr std::array<std::string_view, 4> kFlitKinds{"protocol", "all-data", "io", "control"};
  Value::List fill;
  for (const std::uint64_t each : totals.fill) fill.emplace_back(number(each));
  return Value::Map{{"flits", table_of(kFlitKinds, totals.flits)},
                    {"slots", table_of(kSlotKindNames, totals.slots)},
                    {"slots_by_class", table_of(kChannelNames, totals.slots_of_class)},
                    {"messages_by_class", table_of(kChannelNames, totals.messages)},
                    {"flits_by_fill", std::move(fill)},
                    {"byte_shares", byte_shares_of(totals, flits.mode())},
                    {"io_bytes", number(totals.io_bytes)},
                    {"errors", number(totals.errors)},
                    {"retry_share", length > 0.0 ? totals.retry_time.ns() / length : 0.0}};
}

Value direction(const LinkEnd& end, double length) {
  Value::Map blocked;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const Time time = end.credit_blocked(static_cast<Channel>(i));
    if (time > Time{}) blocked.emplace_back(std::string(kChannelNames[i]), time.ns());
  }
  Value::Map direction;
  ValueSink sink(direction);
  report_link(end, length, sink);
  direction.emplace_back(std::string(kCreditBlockedByClass.name), std::move(blocked));
  if (const FlitMonitor* flits = end.flits())
    direction.emplace_back(std::string(kLinkFlits.name), flits_of(*flits, length));
  return direction;
}

// Of the requests and write-backs that a memory served.
void add_served(const MemoryStatistics& served, double length, Value::Map& memory) {
  memory.emplace_back("requests", number(served.latency.count()));
  memory.emplace_back("write_backs", number(served.write_backs));
  memory.emplace_back("reads", number(served.reads));
  memory.emplace_back("writes", number(served.accesses() - served.reads));
  memory.emplace_back("bandwidth_gb_per_s", rate(served.payload, length));
  memory.emplace_back("read_gb_per_s", rate(served.read_payload, length));
  memory.emplace_back("write_gb_per_s", rate(served.payload - served.read_payload, length));
  memory.emplace_back("latency_ns", latency_of(served.latency));
  memory.emplace_back("breakdown_ns", breakdown_of(served.segment_sums_ps(), served.latency.count()));
}

Value io_of(const Simulation& simulation) {
  Value::Map engines;
  for (const auto& [component, initiator] : simulation.system().roles().io_initiators) {
    Value::Map own;
    ValueSink sink(own);
    component->report(sink);
    own.emplace_back("latency_ns", latency_of(initiator->latency()));
    own.emplace_back("breakdown_ns",
                     breakdown_of(initiator->segment_sums_ps(), initiator->latency().count()));
    engines.emplace_back(component->name(), std::move(own));
  }
  return engines;
}

// Links that were not what they usually are, in the part of the run that has been played.
void add_link_notes(const Simulation& simulation, Value::List& notes) {
  const Time now = simulation.kernel().now();
  for (const System::LinkView& view : simulation.system().links()) {
    const LinkParams& link = *view.params;
    const std::string name = "the link " + view.name;
    if (link.outage.at && *link.outage.at <= now) {
      notes.emplace_back(
          name + " was down for " + to_text(link.outage.length) + " from " + to_text(*link.outage.at) +
          " on: " +
          (link.outage.fail ? "requests that came meanwhile failed" : "what came meanwhile waited"));
    }
    if (link.outage.at && *link.outage.at > now) {
      notes.emplace_back(name + " was never down: the run ended before " + to_text(*link.outage.at));
    }
    if (link.degraded.at && *link.degraded.at > now) {
      notes.emplace_back(name + " was never degraded: the run ended before " + to_text(*link.degraded.at));
    }
    if (link.degraded.at && *link.degraded.at <= now) {
      notes.emplace_back(name + " was degraded to " + to_text(*link.degraded.phy) + " from " +
                         to_text(*link.degraded.at) + " on");
    }
  }
}

std::string not_stationary(const BatchMeans::Halves& halves) {
  const bool rising = halves.second > halves.first;
  const double ratio = rising ? halves.second / halves.first : halves.first / halves.second;
  return "the measured window was not stationary: the mean latency of its " +
         std::string(rising ? "second half is " : "first half is ") + percent_text(ratio - 1.0) +
         " higher than that of the other; a longer run.warmup may let it settle" +
         (rising ? ", unless more is asked for than the system can do" : "");
}

// What makes the measures less than they seem.
Value notes_of(const Simulation& simulation, const RequestStatistics& all, const Unlimited& unlimited,
               double length) {
  constexpr double kShort = 3.0;  // mean latencies
  Value::List notes;
  for (const std::string& note : simulation.notes()) notes.emplace_back(note);
  add_link_notes(simulation, notes);
  const LatencyDistribution& latency = all.latency;
  if (latency.count() > 1 && length < kShort * latency.mean_ns()) {
    notes.emplace_back(
        "the measured window is shorter than three mean latencies: its bandwidth says how requests came and "
        "went, not "
        "what the system sustains; measure more requests");
  }
  if (const auto halves = all.batches.halves(latency.count()); halves && halves->differ) {
    notes.emplace_back(not_stationary(*halves));
  }
  if (unlimited.any()) notes.emplace_back(unlimited.note());
  return notes;
}

}  // namespace

Value summarize_link(const Simulation& simulation, const System::LinkView& link) {
  const double length = window_length(simulation);
  return Value::Map{{link.forward->name(), direction(*link.forward, length)},
                    {link.backward->name(), direction(*link.backward, length)}};
}

Value summarize(const Simulation& simulation, const Collector& collector) {
  Value::Map links;
  for (const System::LinkView& link : simulation.system().links())
    links.emplace_back(link.name, summarize_link(simulation, link));
  Value summary = summarize_without_links(simulation, collector);
  summary.set("per_link", std::move(links));
  return summary;
}

Value summarize_without_links(const Simulation& simulation, const Collector& collector) {
  const double length = window_length(simulation);
  const RequestStatistics all = collector.all();
  const Roles& roles = simulation.system().roles();

  Value::Map requesters;
  Value::Map memories;
  Value::Map switches;
  for (const auto& component : simulation.system().components()) {
    Value::Map own;
    ValueSink sink(own);
    if (component->forwards()) {
      component->report(sink);
      switches.emplace_back(component->name(), own);
      continue;
    }
    if (const Sequencer* requester = roles.requesters.of(component->id());
        requester && requester->has_work()) {
      requester->report(sink);
      own.emplace_back("latency_ns", latency_of(requester->latency(), requester->batches()));
      requesters.emplace_back(component->name(), own);
    }
    const MemoryOwner* owner = roles.memories.of(component->id());
    if (owner && owner->memory_capacity() > Bytes{}) {
      Value::Map memory;
      ValueSink memory_sink(memory);
      owner->report_memory(memory_sink);
      add_served(collector.of_memory(component->id()), length, memory);
      memories.emplace_back(component->name(), memory);
    }
  }
  const Unlimited unlimited = find_unlimited(simulation.system(), &collector);
  const auto halves = all.batches.halves(all.latency.count());
  const bool finished = simulation.state() == Simulation::State::kFinished;
  return Value::Map{
      {"requests", number(all.latency.count())},
      {"reads", number(collector.reads().latency.count())},
      {"writes", number(collector.writes().latency.count())},
      {"write_backs", number(collector.write_backs())},
      {"failed", number(collector.failed())},
      {"failed_write_backs", number(collector.failed_write_backs())},
      {"simulated_time_ns", length},
      {"bandwidth_gb_per_s", rate(all.payload, length)},
      {"latency_ns", latency_of(all)},
      {"breakdown_ns", breakdown_of(all.segment_sums_ps, all.latency.count())},
      {"mean_hops", mean_of(static_cast<double>(collector.hops()), all.latency.count())},
      {"read", kind_summary(collector.reads(), length)},
      {"write", kind_summary(collector.writes(), length)},
      {"per_requester", std::move(requesters)},
      {"per_memory", std::move(memories)},
      {"per_io", io_of(simulation)},
      {"per_link", Value::Map{}},
      {"per_switch", std::move(switches)},
      {"coherence", Value::Map{}},
      {"unlimited", unlimited.to_value()},
      {"stationary", halves ? Value(!halves->differ) : Value()},
      {"completed", finished},
      {"truncated", !finished},
      {"stop_reason", simulation.stop_reason()},
      {"notes", notes_of(simulation, all, unlimited, length)},
      {"seed", number(simulation.spec().run.seed)},
  };
}

Value measures_of(const System& system) {
  Value::Map all;
  for (const auto& component : system.components()) {
    Value::Map own;
    ValueSink sink(own);
    component->report(sink);
    all.emplace_back(component->name(), std::move(own));
  }
  for (const auto& end : system.link_ends()) all.emplace_back(end->name(), direction(*end, 1.0));
  return all;
}

}  // namespace cxloom

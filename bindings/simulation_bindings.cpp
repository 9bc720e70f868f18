// A simulation from Python: built from a resolved spec, advanced in slices without the GIL, read as plain
// data.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core_bindings.hpp"
#include "crash_bindings.hpp"
#include "device/switch/persist_domain.hpp"
#include "generated_links.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "results/collector.hpp"
#include "results/description.hpp"
#include "results/inventory.hpp"
#include "results/summary.hpp"
#include "system/build/system_builder.hpp"
#include "system/record/command_recorder.hpp"
#include "system/record/protocol_recorder.hpp"
#include "system/record/sampler.hpp"
#include "system/run/run_kernels.hpp"
#include "system/run/simulation.hpp"
#include "system/spec/errors.hpp"
#include "trace_columns.hpp"
#include "value_conversion.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

/// Hands a vector over to NumPy without copying.
template <class T>
nb::object column(std::vector<T>&& values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* data = held->data();
  const std::size_t size = held->size();
  nb::capsule owner(held.release(),
                    [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::cast(ColumnOf<T>(data, {size}, owner));
}

template <class Table, class... Columns>
nb::dict columns_of(Table&& table, const std::tuple<Columns...>& declared) {
  nb::dict columns;
  each_column(table, declared, [&](const MeasureInfo& info, auto& values) {
    columns[nb::str(info.name.data(), info.name.size())] = column(std::move(values));
  });
  return columns;
}

nb::dict columns_of(RequestTable table, bool persists) {
  nb::dict columns = columns_of(table, kRequestColumns);
  for (const Segment segment : kPathOrder) {
    const auto i = static_cast<std::size_t>(segment);
    if (!persists && i >= kSegmentCount - kPersistSegments) continue;
    columns[(std::string(kSegments[i].name) + "_ps").c_str()] = column(std::move(table.segments_ps[i]));
  }
  return columns;
}

bool link_is_idle(const Value& direction) {
  const Value* messages = direction.find("messages");
  return messages && messages->as_integer() && *messages->as_integer() == 0;
}

// Within a handler of `error`: throws what is wrong with a spec, and with its other entries unless they are
// too many.
[[noreturn]] void throw_with_others(const InputError& error, nb::handle spec) {
  std::size_t entries = 0;
  for (const nb::handle section :
       nb::isinstance<nb::dict>(spec) ? nb::cast<nb::dict>(spec).values() : nb::list()) {
    if (nb::isinstance<nb::dict>(section) || nb::isinstance<nb::list>(section) ||
        nb::isinstance<GeneratedLinks>(section))
      entries += nb::len(section);
  }
  if (entries > kEntriesLookedAt) throw;
  throw_with_spec_errors(error, to_value(spec), registry());
}

class RunningSystem {
 public:
  RunningSystem(nb::handle spec, const nb::dict& feeds, bool timed) try
      : RunningSystem(read(spec), feeds, timed) {
  } catch (const InputError& error) {
    throw_with_others(error, spec);
  }

  bool advance(std::uint64_t max_events, std::optional<double> until_ns) {
    const Time limit = until_ns ? Time{static_cast<std::int64_t>(*until_ns * 1000.0)} : Time::max();
    const nb::gil_scoped_release released;
    return simulation_.advance(limit, max_events);
  }
  std::vector<double> batch_times(const std::string& device) const {
    std::vector<double> result;
    for (const Time each : times_.at(device)->latest()) result.push_back(each.ns());
    return result;
  }
  bool run_until(double nanoseconds) {
    const nb::gil_scoped_release released;
    return simulation_.run_until(Time{static_cast<std::int64_t>(nanoseconds * 1000.0)});
  }
  void stop(const std::string& reason) { simulation_.stop(reason); }
  std::uint64_t past_left() const { return simulation_.past_left(); }
  void play_past(std::uint64_t steps) {
    const nb::gil_scoped_release released;
    simulation_.play_past(steps);
  }

  nb::dict progress() const {
    const Simulation::Progress progress = simulation_.progress();
    nb::dict result;
    result["completed"] = progress.completed;
    result["expected"] = progress.expected ? nb::object(nb::int_(*progress.expected)) : nb::none();
    result["time_ns"] = progress.now.ns();
    result["events"] = progress.events;
    return result;
  }
  /// How it is divided among threads; None: nobody asked for several.
  nb::object division() const {
    if (!simulation_.kernels().divided()) {
      if (simulation_.kernels().undivided_because().empty()) return nb::none();
      nb::dict result;
      result["parts"] = 1;
      result["reason"] = simulation_.kernels().undivided_because();
      return result;
    }
    DividedRun& run = *simulation_.kernels().divided();
    nb::dict result;
    result["parts"] = run.division().parts;
    if (!run.division().reason.empty()) result["reason"] = run.division().reason;
    result["lookahead_ns"] = run.division().lookahead.ns();
    result["windows"] = run.cost().windows;
    result["windows_side_by_side"] = run.cost().side_by_side;
    result["events_side_by_side"] = run.cost().events_side_by_side;
    result["events_of_busiest"] = run.cost().events_of_busiest;
    nb::dict merged;
    for (std::size_t why = 0; why < DividedRun::kMergedNames.size(); ++why) {
      const std::uint64_t events = run.cost().events_merged[why];
      if (events > 0) merged[DividedRun::kMergedNames[why].data()] = events;
    }
    result["events_in_one_thread"] = merged;
    nb::list events;
    for (std::uint32_t part = 0; part < run.division().parts; ++part)
      events.append(run.kernels().events_of(part));
    result["events_by_part"] = events;
    result["helpers_cpu_seconds"] = run.kernels().helpers_cpu_seconds();
    return result;
  }
  // Most of many links do nothing: directions with equal measures share one dict.
  nb::object summary() const {
    PythonMaker maker;
    nb::object result = maker.make(summarize_without_links(simulation_, collector_));
    nb::dict links;
    nb::object idle = nb::none();
    for (const System::LinkView& link : simulation_.system().links()) {
      const Value measures = summarize_link(simulation_, link);
      nb::dict directions;
      for (const auto& [name, values] : *measures.as_map()) {
        nb::object direction = maker.make(values);
        if (direction.equal(idle)) direction = idle;
        else if (link_is_idle(values)) idle = direction;
        directions[name.c_str()] = direction;
      }
      links[link.name.c_str()] = directions;
    }
    result["per_link"] = links;
    return result;
  }

  /// The measured window in ns: when it opened, and when it closed.
  nb::tuple window() const {
    const MeasuredWindow& window = simulation_.window();
    const auto at = [](bool known, Time time) {
      return known ? nb::object(nb::float_(time.ns())) : nb::none();
    };
    const bool opened = window.has_opened();
    return nb::make_tuple(at(opened, window.opened()), at(opened && !window.is_open(), window.closed()));
  }
  nb::object next_part() {
    nb::object ended = nb::none();
    simulation_.begin_next_part([&] {
      ended = summary();
      collector_ = Collector{false};
    });
    return ended;
  }

  nb::dict lose_power(std::uint32_t cuts, nb::object look, std::optional<std::uint64_t> seed,
                      const std::optional<std::string>& lost_switch) {
    if (!power_loss_) power_loss_ = std::make_unique<PowerLoss>(registry(), simulation_.spec());
    const System& system = simulation_.system();
    std::optional<NodeId> lost;
    if (lost_switch) lost = switch_with_buffer(system, *lost_switch);
    if (seed && !cut_draws_) cut_draws_.emplace(*seed, "recovery", "cuts");
    const CutChoice choice{cuts, seed ? &*cut_draws_ : nullptr, python_look(std::move(look))};
    PowerLossFound found;
    {
      const nb::gil_scoped_release released;
      found = power_loss_->at(system, choice, lost);
    }
    return to_python(found);
  }
  nb::object loss_search(const nb::dict& feeds, const std::optional<std::string>& lost_switch) const {
    return python_search(std::make_unique<LossSearch>(registry(), simulation_.spec(), opener(feeds),
                                                      requests_issued(simulation_, simulation_.spec()),
                                                      LossKind{lost_switch}));
  }

  nb::dict take_requests() {
    // While it runs, others may still complete at the instant at hand, and belong before some of its rows.
    const bool running = simulation_.state() == Simulation::State::kRunning;
    RequestTable table = collector_.take_requests(running ? simulation_.now() : Time::max());
    return columns_of(std::move(table), !simulation_.system().roles().all<PersistDomain>().empty());
  }

  nb::dict take_series() {
    Sampler* const sampler = simulation_.recorders().sampler();
    return columns_of(sampler ? sampler->take() : SeriesTable{}, kSeriesColumns);
  }

  nb::dict take_commands() {
    auto* const commands = simulation_.recorders().commands();
    return columns_of(commands ? commands->take() : CommandTable{}, kCommandColumns);
  }

  void log_protocol(const std::vector<std::uint64_t>& addresses) {
    simulation_.log_protocol({addresses.begin(), addresses.end()});
  }
  nb::tuple take_protocol() {
    ProtocolTable table =
        simulation_.recorders().protocol() ? simulation_.recorders().protocol()->take() : ProtocolTable{};
    const nb::dict columns = columns_of(table, kProtocolColumns);
    nb::list states;
    for (const std::string& state : table.states) states.append(state);
    return nb::make_tuple(columns, states);
  }

  /// Names of the nodes and of the link ends, by the numbers that the tables have.
  nb::list node_names() const {
    nb::list names;
    for (const auto& component : simulation_.system().components()) names.append(component->name());
    return names;
  }
  /// By node, its PBR identity; -1: it has none.
  nb::list pbr_ids() const {
    nb::list ids;
    for (const auto& id : simulation_.system().pbr_ids()) ids.append(id ? int{id->value()} : -1);
    return ids;
  }
  /// The names of the probes, by their numbers in the series.
  nb::list probe_names() {
    nb::list names;
    if (const Sampler* sampler = simulation_.recorders().sampler()) {
      for (const auto& probe : sampler->probes()) names.append(probe->name());
    }
    return names;
  }
  nb::list link_names() const {
    nb::list names;
    for (const auto& link : simulation_.system().links()) {
      names.append(link.forward->name());
      names.append(link.backward->name());
    }
    return names;
  }
  static nb::list command_names() {
    nb::list names;
    for (std::size_t i = 0; i < kDramCommandCount; ++i)
      names.append(std::string(to_text(static_cast<DramCommand>(i))));
    return names;
  }
  static nb::list opcode_names() {
    nb::list names;
    for (const std::string_view name : kOpcodeNames) names.append(std::string(name));
    return names;
  }
  static nb::object description(nb::handle spec, const nb::dict& feeds) try {
    return to_python(describe_system(registry(), read(spec), opener(feeds)));
  } catch (const InputError& error) {
    throw_with_others(error, spec);
  }
  static nb::object inventory(nb::handle spec, bool with_resources) try {
    return to_python(inventory_of(registry(), read(spec), with_resources));
  } catch (const InputError& error) {
    throw_with_others(error, spec);
  }

 private:
  RunningSystem(Spec spec, const nb::dict& feeds, bool timed)
      : collector_(spec.outputs.requests, spec.outputs.mix_windows),
        simulation_(registry(), std::move(spec), timed ? timed_opener(feeds) : opener(feeds), collector_) {}

  // The plain data are gone before the system is built.
  static Spec read(nb::handle spec) { return Spec::read(to_value(spec), registry()); }

  static TraceOpener opener(const nb::dict& feeds) {
    return [&feeds](const std::string& device) { return open(feeds, device); };
  }

  TraceOpener timed_opener(const nb::dict& feeds) {
    return [this, &feeds](const std::string& device) {
      TraceFeed feed = open(feeds, device);
      feed.times = times_[device] = std::make_shared<BatchTimes>();
      return feed;
    };
  }

  // "(function, int)"
  static std::string types_of(const nb::tuple& parts) {
    std::string names;
    for (const nb::handle part : parts)
      names += (names.empty() ? "" : ", ") + nb::cast<std::string>(part.type().attr("__name__"));
    return "(" + names + ")";
  }

  static TraceFeed open(const nb::dict& feeds, const std::string& device) {
    if (!feeds.contains(device.c_str())) {
      throw InputError({"no feed for the trace of '" + device + "'", {}, "an entry in `feeds`", {}});
    }
    nb::object feed(feeds[device.c_str()]);
    std::optional<std::uint64_t> length;
    std::function<TraceStream::Refill()> again;
    if (nb::isinstance<nb::tuple>(feed)) {
      std::tuple<nb::object, std::optional<std::uint64_t>, nb::object> parts;
      if (!nb::try_cast(feed, parts)) {
        throw InputError(
            {"no feed for the trace of '" + device + "'",
             types_of(nb::borrow<nb::tuple>(feed)),
             "what gives columns, or (that, the length of the trace or None, what makes another feed of it)",
             {}});
      }
      feed = std::get<0>(parts);
      length = std::get<1>(parts);
      again = again_from(std::get<2>(parts));
    }
    TraceFeed result{refill_from(feed), length, std::move(again)};
    if (nb::hasattr(feed, "want")) result.want = want_of(feed.attr("want"));
    return result;
  }

  Collector collector_;
  std::unordered_map<std::string, std::shared_ptr<BatchTimes>> times_;
  Simulation simulation_;
  std::unique_ptr<PowerLoss> power_loss_;
  std::optional<RandomStream> cut_draws_;
};

}  // namespace

void bind_simulation(nb::module_& m) {
  nb::class_<RunningSystem>(
      m, "Simulation",
      "A system at work; see the package's documentation of the spec. A feed gives the next columns of a "
      "trace, or None at its end. Or a tuple of that, the length of the trace where it is known, and what "
      "makes another feed of the same trace. A method `want` of a feed is called with the thread whose "
      "records are waited for.")
      .def(nb::init<nb::handle, nb::dict, bool>(), "spec"_a, "feeds"_a, "timed"_a = false)
      .def(
          "batch_times", &RunningSystem::batch_times, "device"_a,
          "With `timed`: of each part that the feed of that device has given, when the last answer to one of "
          "its reads came, in ns; zero if none has.")
      .def("advance", &RunningSystem::advance, "max_events"_a, "until_ns"_a = nb::none(),
           "Runs at most so many events, up to and including a simulated time; True when the run is over. "
           "Raises SimulationError if it cannot finish.")
      .def("run_until", &RunningSystem::run_until, "time_ns"_a,
           "Runs everything up to and including a simulated time; True when the run is over.")
      .def("stop", &RunningSystem::stop, "reason"_a, "Ends the run now; the summary is labelled truncated.")
      .def("progress", &RunningSystem::progress)
      .def("division", &RunningSystem::division,
           "How the run was divided among threads, and what that brought; None if it was to have one.")
      .def("past_left", &RunningSystem::past_left,
           "Steps that are left of what media have been through before the run.")
      .def("play_past", &RunningSystem::play_past, "steps"_a, "Plays so many of them at most.")
      .def(
          "lose_power", &RunningSystem::lose_power, "cuts"_a, "look"_a, "seed"_a = nb::none(),
          "switch"_a = nb::none(),
          "If the power failed now, or that switch was lost: the lines that recovery would leave too old. It "
          "fails again so many times during recovery, at every instant of it or, with a seed, at drawn ones. "
          "`look` is called now and then, and may raise to end it.")
      .def("loss_search", &RunningSystem::loss_search, "feeds"_a, "switch"_a = nb::none(),
           "Looks for a shorter history of what is lost now. Traces are given from their beginnings.")
      .def("summary", &RunningSystem::summary)
      .def("window", &RunningSystem::window,
           "When the measured window opened and when it closed, in ns of simulated time; None: it has not.")
      .def("next_part", &RunningSystem::next_part,
           "Ends this part of the measured window now, and begins the next one: the summary of the one that "
           "ended, None where none had opened. The last one ends with the window. No more rows of requests "
           "are recorded. Raises InputError for a graph of tasks, for several threads, and when it is over.")
      .def("take_requests", &RunningSystem::take_requests,
           "Columns of the requests measured since the last call.")
      .def("take_series", &RunningSystem::take_series, "Columns of the samples taken since the last call.")
      .def("take_commands", &RunningSystem::take_commands,
           "Columns of the commands of DRAM since the last call; -1 stands for a coordinate that there is "
           "not.")
      .def_static("command_names", &RunningSystem::command_names)
      .def("log_protocol", &RunningSystem::log_protocol, "addresses"_a,
           "Logs from now on the messages of the protocol; those of these lines alone if there are any.")
      .def("take_protocol", &RunningSystem::take_protocol,
           "Columns of the messages since the last call, and the states that their columns before and after "
           "count.")
      .def_static("opcode_names", &RunningSystem::opcode_names)
      .def("node_names", &RunningSystem::node_names)
      .def("pbr_ids", &RunningSystem::pbr_ids)
      .def("probe_names", &RunningSystem::probe_names)
      .def("link_names", &RunningSystem::link_names);
  m.attr("ENTRIES_LOOKED_AT") = kEntriesLookedAt;
  m.def(
      "spec_errors",
      [](nb::handle spec) { return to_python_errors(spec_errors(to_value(spec), registry()).errors()); },
      "spec"_a,
      "The InputErrors of the entries of a spec, each looked at by itself; the spec need not be whole.");
  m.def("check", &RunningSystem::description, "spec"_a, "feeds"_a = nb::dict(),
        "What a resolved spec describes; raises InputError if it is wrong.");
  m.def("inventory", &RunningSystem::inventory, "spec"_a, "with_resources"_a = true,
        "The devices of a resolved spec with their roles, its links, and what of both can fill up "
        "(core/component/resource.hpp); raises InputError if it is wrong.");
}

}  // namespace cxloom

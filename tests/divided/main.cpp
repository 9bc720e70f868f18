// `cxloom_divided whole|divided [THREADS]` reads a spec as JSON on standard input, plays it in one queue of
// events, or in one for each of as many parts as it can have, which so many threads share, and writes what
// came out as JSON: for tests/validation/test_divided.py. Exit codes are those of `cxloom run`.
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "component/line_versions.hpp"
#include "protocol/segment.hpp"
#include "results/collector.hpp"
#include "results/summary.hpp"
#include "system/kinds/registry.hpp"
#include "system/record/command_recorder.hpp"
#include "system/run/run_kernels.hpp"
#include "system/run/simulation.hpp"

namespace {

using namespace cxloom;

template <class T>
Value list_of(const std::vector<T>& values) {
  Value::List list;
  list.reserve(values.size());
  for (const T value : values) list.emplace_back(static_cast<std::int64_t>(value));
  return list;
}

Value columns_of(RequestTable table) {
  Value::Map columns;
  each_column(table, kRequestColumns, [&](const MeasureInfo& info, const auto& values) {
    columns.emplace_back(std::string(info.name), list_of(values));
  });
  for (std::size_t i = 0; i < kSegmentCount; ++i)
    columns.emplace_back(std::string(kSegments[i].name) + "_ps", list_of(table.segments_ps[i]));
  return columns;
}

Value columns_of(CommandTable table) {
  Value::Map columns;
  each_column(table, kCommandColumns, [&](const MeasureInfo& info, const auto& values) {
    columns.emplace_back(std::string(info.name), list_of(values));
  });
  return columns;
}

// What a run knows of versions besides what it counts: the number that memory has of each of the first lines
// goes by the order of all writes of it.
Value kept(const LineVersions& versions) {
  Value::List numbers;
  for (std::uint64_t line = 0; line < 64; ++line)
    numbers.emplace_back(std::int64_t{versions.in_memory(LineAddress{line})});
  const std::uint64_t settled = versions.settled_lines([](LineAddress) { return true; });
  return Value::Map{{"changes", static_cast<std::int64_t>(versions.changes())},
                    {"in_memory", std::move(numbers)},
                    {"settled", static_cast<std::int64_t>(settled)}};
}

Value play(const Value& input, bool divided, std::uint32_t threads) {
  const Registry registry = builtin_registry();
  const Spec spec = Spec::read(input, registry);
  const TraceOpener no_traces = [](const std::string& device) -> TraceFeed {
    throw InputError({"there is no trace for '" + device + "'", {}, {}, {}});
  };
  ThreadDivision most = divide_most(registry, spec);
  most.threads = threads;
  const ThreadDivision whole;
  Collector collector(true, spec.outputs.mix_windows);
  Simulation simulation(registry, spec, no_traces, collector, divided ? &most : &whole);
  while (!simulation.advance(Time::max(), 100'000)) {
  }
  Value::Map outcome{{"end_ps", simulation.now().ps()},
                     {"partitions", std::int64_t{most.parts}},
                     {"reason", most.reason},
                     {"window_ps", Value::List{simulation.window_start().ps(), simulation.window_end().ps()}},
                     {"requests", columns_of(collector.take_requests())},
                     {"summary", summarize(simulation, collector)}};
  if (const LineVersions* const versions = simulation.system().versions())
    outcome.emplace_back("versions", kept(*versions));
  if (CommandRecorder* const commands = simulation.recorders().commands())
    outcome.emplace_back("commands", columns_of(commands->take()));
  if (const DividedRun* run = simulation.kernels().divided()) {
    outcome.emplace_back("side_by_side", static_cast<std::int64_t>(run->cost().side_by_side));
    outcome.emplace_back("windows", static_cast<std::int64_t>(run->cost().windows));
  }
  return outcome;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const bool divided = count > 1 && std::string_view(arguments[1]) == "divided";
  const auto threads = static_cast<std::uint32_t>(count > 2 ? std::stoul(arguments[2]) : 1);
  std::cout << to_json(play(parse_json(text), divided, threads)) << '\n';
  return 0;
} catch (const InputError& error) {
  std::cerr << error.what();
  return 2;
} catch (const SimulationError& error) {
  std::cerr << error.what();
  return 3;
}

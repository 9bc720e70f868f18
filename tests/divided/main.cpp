// Reads a spec as JSON on standard input, plays it in one queue of events or in one for each of its
// partitions, and writes what came out as JSON: for tests/validation/test_divided.py. Exit codes are those of
// `cxloom run`.
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "divided/divided_run.hpp"
#include "kernel/kernel.hpp"
#include "protocol/segment.hpp"
#include "results/collector.hpp"
#include "results/summary.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"

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

Value play(const Value& input, bool divided) {
  const Registry registry = builtin_registry();
  const Spec spec = Spec::read(input, registry);
  const TraceOpener no_traces = [](const std::string& device) -> TraceFeed {
    throw InputError({"there is no trace for '" + device + "'", {}, {}, {}});
  };
  Kernel kernel;
  Partitions partitions = partitions_of(build_system(kernel, registry, spec));
  const std::uint32_t count = partitions.count;
  const Time window = partitions.lookahead.value_or(Time{1'000'000});
  if (!divided) partitions = {std::vector<std::uint32_t>(partitions.of_node.size()), 1, {}};
  Collector collector(true);
  DividedRun run(registry, spec, no_traces, collector, partitions, window);
  run.run();
  return Value::Map{{"partitions", std::int64_t{count}},
                    {"window_ps", Value::List{run.window_start().ps(), run.window_end().ps()}},
                    {"requests", columns_of(collector.take_requests())},
                    {"measures", measures_of(run.system())}};
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const bool divided = count > 1 && std::string_view(arguments[1]) == "divided";
  std::cout << to_json(play(parse_json(text), divided)) << '\n';
  return 0;
} catch (const InputError& error) {
  std::cerr << error.what();
  return 2;
} catch (const SimulationError& error) {
  std::cerr << error.what();
  return 3;
}

#include "results/task_results.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "results/task_links.hpp"
#include "system/run/simulation.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom {

namespace {

Value record_of(const TaskPlayer& player, std::uint32_t number) {
  constexpr std::array<const char*, 3> kKinds{"compute", "copy", "kernel"};
  const TaskPlayer::Record& record = player.records()[number];
  const Task& task = player.graph().tasks()[number];
  TaskMeasured measured{.kind = kKinds[static_cast<std::size_t>(task.kind)],
                        .lane = player.graph().lanes()[task.lane].name(),
                        .start = {},
                        .end = {},
                        .waited_for = {},
                        .bytes = task.bytes(),
                        .failed = {}};
  if (record.start >= Time{}) measured.start = record.start.ns();
  if (record.over()) measured.end = record.end.ns();
  if (record.waited_for != TaskPlayer::kNobody) measured.waited_for = player.graph().name(record.waited_for);
  if (record.failed) measured.failed = Value(true);
  return map_of(kTaskMeasures, measured);
}

Value critical_path(const TaskPlayer& player) {
  const std::vector<TaskPlayer::Record>& records = player.records();
  std::uint32_t last = TaskPlayer::kNobody;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].over() && (last == TaskPlayer::kNobody || records[i].end > records[last].end)) last = i;
  }
  Value::List path;
  for (; last != TaskPlayer::kNobody; last = records[last].waited_for) {
    const PathMeasured measured{.task = player.graph().name(last),
                                .time = (records[last].end - records[last].start).ns()};
    path.emplace_back(map_of(kPathMeasures, measured));
  }
  std::ranges::reverse(path);
  return path;
}

Value lanes_of(const TaskPlayer& player) {
  Value::Map lanes;
  for (const TaskLane& lane : player.graph().lanes()) {
    LaneMeasured measured;
    for (const std::uint32_t task : lane.tasks) {
      const TaskPlayer::Record& record = player.records()[task];
      if (!record.over()) continue;
      ++measured.tasks;
      measured.busy += (record.end - record.start).ns();
    }
    lanes.emplace_back(lane.name(), map_of(kLaneMeasures, measured));
  }
  return lanes;
}

Value windows_of(const TaskPlayer& player) {
  Value::List windows;
  for (const auto& [key, window] : player.sampler().windows()) {
    Value::List transfers;
    for (std::size_t i = 0; i < window.sorts.size(); ++i) {
      const double rate = window.rates[i] * static_cast<double>(kLineBytes) * 1e3;
      transfers.emplace_back(
          map_of(kTransferMeasures, TransferMeasured{.transfer = window.sorts[i], .rate = rate}));
    }
    windows.emplace_back(map_of(kWindowMeasures, WindowMeasured{.transfers = std::move(transfers),
                                                                .error = window.error,
                                                                .stood = window.skipped.ns(),
                                                                .used = number(window.used)}));
  }
  return windows;
}

}  // namespace

std::optional<Value> tasks_of(const Simulation& simulation) {
  const TaskPlayer* const player = simulation.tasks();
  if (!player) return std::nullopt;
  Value::Map tasks;
  Time last;
  for (std::uint32_t i = 0; i < player->records().size(); ++i) {
    tasks.emplace_back(player->graph().name(i), record_of(*player, i));
    last = std::max(last, player->records()[i].end);
  }
  return map_of(kGraphMeasures, {.time = last.ns(),
                                 .error = player->sampler().error_ps() / 1e3,
                                 .skipped = player->skipped().ns(),
                                 .per_task = std::move(tasks),
                                 .critical_path = critical_path(*player),
                                 .per_lane = lanes_of(*player),
                                 .per_link = use_of_links(simulation.system(), *player),
                                 .windows = windows_of(*player)});
}

}  // namespace cxloom

#include "system/tasks/task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/schema.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// Tasks of a circle that a message names.
constexpr std::size_t kNamed = 8;

template <class Role>
Role* role_at(const System& system, const std::string& device) {
  for (const auto& component : system.components()) {
    if (component->name() == device) return system.roles().of<Role>(component->id());
  }
  return nullptr;
}

template <class Role>
std::vector<std::string> with_role(const System& system) {
  std::vector<std::string> names;
  for (const auto& [component, role] : system.roles().template all<Role>())
    names.push_back(component->name());
  return names;
}

std::string names_or(const std::vector<std::string>& names, const char* nothing) {
  return names.empty() ? nothing : list_names(names);
}

}  // namespace

std::string TaskLane::name() const {
  const std::string what = shares_name ? device + " (processor)" : device;
  return stream == 0 ? what : what + " stream " + std::to_string(stream);
}

std::uint64_t Task::bytes() const {
  std::uint64_t bytes = 0;
  for (const TaskRange& range : ranges) bytes += range.bytes;
  return kind == TaskKind::kCopy ? ranges.front().bytes : bytes;
}

TaskGraph::TaskGraph(const Spec& spec, const System& system, const TaskObjects& objects)
    : params_(spec.tasks.graph), processors_(spec.tasks.processors), system_(system), objects_(objects) {
  with_path("tasks", [&] {
    if (spec.tasks.file)
      throw InputError({"a file of tasks that nobody has read", {}, "graph: the tasks themselves", {}},
                       "file");
    for (std::size_t i = 0; i < processors_.size(); ++i) {
      const ProcessorParams& processor = processors_[i];
      if (!rates_.emplace(processor.name, processor.flops).second) {
        throw InputError({"two processors have one name", "'" + processor.name + "'", "another name", {}},
                         indexed("processors", i) + ".name");
      }
    }
    for (std::size_t i = 0; i < spec.tasks.objects.size(); ++i) {
      const std::string& name = spec.tasks.objects[i].name;
      if (!role_at<TransferEngine>(system_, name)) continue;
      throw InputError({"an object and a device have one name", "'" + name + "'", "another name", {}},
                       indexed("objects", i) + ".name");
    }
    tasks_.reserve(params_.size());
    for (std::size_t i = 0; i < params_.size(); ++i) with_path(indexed("graph", i), [&] { add(params_[i]); });
    connect();
  });
  for (TaskLane& lane : lanes_) {
    lane.shares_name =
        lane.kind == LaneKind::kProcessor && std::ranges::any_of(lanes_, [&](const auto& each) {
          return each.kind != LaneKind::kProcessor && each.device == lane.device;
        });
  }
}

void TaskGraph::add(const TaskParams& params) {
  const auto number = static_cast<std::uint32_t>(tasks_.size());
  if (!numbers_.emplace(params.name, number).second)
    throw InputError({"two tasks have one name", "'" + params.name + "'", "another name", {}}, "name");
  Task task{
      .kind = params.kind, .threads = params.threads, .random = params.pattern == KernelPattern::kRandom};
  if (params.kind == TaskKind::kCompute) add_compute(params, task);
  if (params.kind == TaskKind::kCopy) add_copy(params, task);
  if (params.kind == TaskKind::kKernel) add_kernel(params, task);
  tasks_.push_back(std::move(task));
}

Time TaskGraph::least_of(const TaskParams& params, const std::string& device) const {
  if (params.time) return *params.time;
  if (!params.flops) return {};
  const auto rate = rates_.find(device);
  if (rate == rates_.end()) {
    throw InputError({"no rate is known of '" + device + "'",
                      {},
                      "a processor of that name in tasks.processors, or time",
                      {},
                      InputError::Kind::kBetween},
                     "flops");
  }
  const double picoseconds = *params.flops / rate->second * 1e12;
  if (picoseconds > static_cast<double>(kLongestTime.ps())) {
    throw InputError({"more operations than the processor does in an hour",
                      value_text(*params.flops),
                      "at most " + to_text(kLongestTime) + " of them at the rate of '" + device + "'",
                      {},
                      InputError::Kind::kBetween},
                     "flops");
  }
  return Time{std::llround(picoseconds)};
}

void TaskGraph::add_compute(const TaskParams& params, Task& task) {
  if (!rates_.contains(*params.on)) {
    std::vector<std::string> names;
    for (const auto& [name, rate] : rates_) names.push_back(name);
    throw InputError({"'" + *params.on + "' is no processor",
                      {},
                      names_or(names, "an entry of tasks.processors, of which there is none"),
                      nearest_name(*params.on, names)},
                     "on");
  }
  task.least = least_of(params, *params.on);
  join_lane(LaneKind::kProcessor, *params.on, params, task);
}

TaskRange TaskGraph::part_of(const std::string& object, const char* key, std::optional<Bytes> bytes,
                             Bytes offset, const char* offset_key) const {
  const auto number = objects_.find(object);
  if (!number) {
    throw InputError({"no object '" + object + "'",
                      {},
                      names_or(objects_.names(), "an entry of tasks.objects, of which there is none"),
                      nearest_name(object, objects_.names())},
                     key);
  }
  const std::uint64_t size = objects_.at(*number).size();
  if (offset.count() >= size) {
    throw InputError({"behind the end of '" + object + "'",
                      to_text(offset),
                      "less than " + to_text(Bytes{size}),
                      {},
                      InputError::Kind::kBetween},
                     offset_key);
  }
  return {.object = *number,
          .offset = offset.count(),
          .bytes = bytes ? bytes->count() : size - offset.count(),
          .writes = false};
}

/// The part of an object at an end of a copy, which does not go round.
TaskRange TaskGraph::end_of(const TaskParams& params, End end) const {
  const bool to = end == End::kTo;
  const std::string& name = to ? *params.to : *params.from;
  const char* const key = to ? "to" : "from";
  const std::optional<Bytes>& own_offset = to ? params.to_offset : params.from_offset;
  const char* const offset_key = !own_offset ? "offset" : to ? "to_offset" : "from_offset";
  const bool is_device = std::ranges::any_of(
      system_.components(), [&](const auto& component) { return component->name() == name; });
  if (!objects_.find(name) && is_device) {
    throw InputError(
        {"'" + name + "' has no DMA engine",
         {},
         names_or(with_role<TransferEngine>(system_), "a device with one, of which there is none"),
         {}},
        key);
  }
  const TaskRange range = part_of(name, key, params.bytes, own_offset.value_or(params.offset), offset_key);
  const std::uint64_t room = objects_.at(range.object).size() - range.offset;
  if (range.bytes > room) {
    throw InputError({"more than '" + name + "' has from there on",
                      to_text(Bytes{range.bytes}),
                      "at most " + to_text(Bytes{room}),
                      {},
                      InputError::Kind::kBetween},
                     "bytes");
  }
  return range;
}

void TaskGraph::add_copy(const TaskParams& params, Task& task) {
  TransferEngine* const source = role_at<TransferEngine>(system_, *params.from);
  TransferEngine* const sink = role_at<TransferEngine>(system_, *params.to);
  if (source && sink) {
    throw InputError({"a copy from a device to a device",
                      "'" + *params.from + "' and '" + *params.to + "'",
                      "an object at one of its ends",
                      {},
                      InputError::Kind::kBetween},
                     "to");
  }
  if (source || sink) return put_on_engine(params, source ? *source : *sink, source != nullptr, task);
  TaskRange read = end_of(params, End::kFrom);
  TaskRange write = end_of(params, End::kTo);
  if (read.offset % kLineBytes != write.offset % kLineBytes) {
    throw InputError({"a host copies line by line, and these offsets are at other places of a line",
                      to_text(Bytes{read.offset}) + " and " + to_text(Bytes{write.offset}),
                      "offsets that differ by a multiple of " + to_text(Bytes{kLineBytes}),
                      {},
                      InputError::Kind::kBetween},
                     params.to_offset ? "to_offset" : "from_offset");
  }
  read.bytes = write.bytes = std::min(read.bytes, write.bytes);
  write.writes = true;
  if (!params.on) {
    throw InputError({"a copy between two objects needs somebody who makes it",
                      {},
                      "on: a host",
                      {},
                      InputError::Kind::kBetween},
                     "from");
  }
  task.ranges = {read, write};
  put_on_host(params, task);
  check_reached(*params.on, read, "from");
  check_reached(*params.on, write, "to");
}

void TaskGraph::check_reached(const std::string& device, const TaskRange& range, const char* key) const {
  const AddressMap& map = system_.address_map_of(system_.component(device).id());
  if (map.beyond().empty()) return;
  const PlacedObject& object = objects_.at(range.object);
  const bool goes_round = range.bytes > object.size() - range.offset;
  const std::uint64_t end = goes_round ? object.size() : range.offset + range.bytes;
  for (std::uint64_t at = goes_round ? 0 : range.offset; at < end;) {
    const PlacedObject::Place place = object.place(at);
    const auto* const region = map.region_of(place.at);
    if (!region) {
      throw InputError({"no way leads from '" + device + "' to some of '" + object.name() + "'",
                        to_text(place.at),
                        "addresses of the object in " + map.described() +
                            "; `host` of the object says whose nodes it is in",
                        {},
                        InputError::Kind::kBetween},
                       key);
    }
    at += std::min(place.room, AddressMap::together(*region, place.at));
  }
}

void TaskGraph::put_on_engine(const TaskParams& params, const TransferEngine& engine, bool writes,
                              Task& task) {
  const std::string& device = writes ? *params.from : *params.to;
  const auto refuse = [](const char* key, std::string problem, std::string found, std::string allowed) {
    throw InputError(
        {std::move(problem), std::move(found), std::move(allowed), {}, InputError::Kind::kBetween}, key);
  };
  if (params.on && *params.on != device) {
    refuse("on", "a copy to or from a device is made by its own DMA engine", "'" + *params.on + "'",
           "'" + device + "', or nothing");
  }
  if (params.stream >= engine.streams()) {
    refuse("stream", "the DMA engine of '" + device + "' has no such stream", std::to_string(params.stream),
           "less than " + std::to_string(engine.streams()));
  }
  if (params.threads > 1)
    refuse("threads", "a DMA engine has no threads", std::to_string(params.threads), "1");
  if (writes ? params.from_offset : params.to_offset) {
    refuse(writes ? "from_offset" : "to_offset",
           "the memory of '" + device + "' has no addresses of which a copy could take some",
           to_text(writes ? *params.from_offset : *params.to_offset), "nothing");
  }
  TaskRange range = end_of(params, writes ? End::kTo : End::kFrom);
  if (range.bytes > engine.memory().count()) {
    refuse("bytes", "a copy is larger than the memory of '" + device + "'", to_text(Bytes{range.bytes}),
           "at most " + to_text(engine.memory()) + ", its hbm.capacity");
  }
  range.writes = writes;
  check_reached(device, range, writes ? "to" : "from");
  task.ranges = {range};
  join_lane(LaneKind::kEngine, device, params, task);
}

void TaskGraph::add_kernel(const TaskParams& params, Task& task) {
  for (const auto& [key, uses] : {std::pair{"reads", &params.reads}, std::pair{"writes", &params.writes}}) {
    for (std::size_t i = 0; i < uses->size(); ++i) {
      const TaskUseParams& use = (*uses)[i];
      with_path(indexed(key, i), [&] {
        task.ranges.push_back(part_of(use.object, "object", use.bytes, use.offset));
        task.ranges.back().writes = key[0] == 'w';
      });
    }
  }
  task.least = least_of(params, *params.on);
  put_on_host(params, task);
  for (std::size_t i = 0; i < task.ranges.size(); ++i) {
    const bool writes = task.ranges[i].writes;
    with_path(indexed(writes ? "writes" : "reads", writes ? i - params.reads.size() : i),
              [&] { check_reached(*params.on, task.ranges[i], "object"); });
  }
}

void TaskGraph::put_on_host(const TaskParams& params, Task& task) {
  Requester* const requester = role_at<Requester>(system_, *params.on);
  if (!requester) {
    throw InputError(
        {"'" + *params.on + "' makes no requests, which " +
             (task.kind == TaskKind::kCopy ? "a copy between objects" : "a kernel") + " is made of",
         {},
         names_or(with_role<Requester>(system_), "a host or an accelerator"),
         nearest_name(*params.on, with_role<Requester>(system_))},
        "on");
  }
  if (role_at<TransferEngine>(system_, *params.on)) {
    throw InputError({"'" + *params.on + "' moves blocks by a DMA engine, and makes no " +
                          (task.kind == TaskKind::kCopy ? "copies between objects" : "kernels"),
                      {},
                      "a host or an accelerator; a copy between an object and '" + *params.on +
                          "', or a compute task for what it computes",
                      {},
                      InputError::Kind::kBetween},
                     "on");
  }
  if (params.threads > 1 && !requester->traits().has_cores) {
    throw InputError({"threads need cores to run on",
                      std::to_string(params.threads),
                      "devices." + *params.on + ".core: {}, or a single thread",
                      {},
                      InputError::Kind::kBetween},
                     "threads");
  }
  join_lane(LaneKind::kThreads, *params.on, params, task);
}

void TaskGraph::join_lane(LaneKind kind, const std::string& device, const TaskParams& params, Task& task) {
  const auto [found, is_new] =
      lane_numbers_.try_emplace({kind, device, params.stream}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.push_back({.kind = kind, .device = device, .stream = params.stream});
  TaskLane& lane = lanes_[found->second];
  lane.threads = std::max(lane.threads, params.threads);
  lane.tasks.push_back(static_cast<std::uint32_t>(tasks_.size()));
  task.lane = found->second;
}

void TaskGraph::connect() {
  std::vector<Digraph::Edge> edges;
  before_.assign(tasks_.size(), 0);
  for (std::uint32_t i = 0; i < params_.size(); ++i) {
    const std::vector<std::string>& after = params_[i].after;
    for (std::size_t j = 0; j < after.size(); ++j) {
      const auto found = numbers_.find(after[j]);
      if (found == numbers_.end()) {
        std::vector<std::string> names;
        for (const TaskParams& each : params_) names.push_back(each.name);
        const std::string nearest = names.size() > 1000 ? std::string() : nearest_name(after[j], names);
        throw InputError({"no task '" + after[j] + "'", {}, "the name of a task of the graph", nearest},
                         indexed("graph", i) + "." + indexed("after", j));
      }
      if (std::find(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(j), after[j]) !=
          after.begin() + static_cast<std::ptrdiff_t>(j))
        continue;
      edges.emplace_back(found->second, i);
      ++before_[i];
    }
  }
  waits_.emplace(static_cast<std::uint32_t>(tasks_.size()), edges);
  for (const TaskLane& lane : lanes_) {
    for (std::size_t i = 1; i < lane.tasks.size(); ++i) edges.emplace_back(lane.tasks[i - 1], lane.tasks[i]);
  }
  refuse_circle(edges);
}

void TaskGraph::refuse_circle(const std::vector<Digraph::Edge>& edges) const {
  const std::vector<std::uint32_t> circle =
      Digraph(static_cast<std::uint32_t>(tasks_.size()), edges).circle();
  if (circle.empty()) return;
  std::string text;
  bool by_order = false;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const std::uint32_t next = circle[(i + 1) % circle.size()];
    const std::span<const std::uint32_t> waiting = behind(circle[i]);
    by_order |= std::ranges::find(waiting, next) == waiting.end();
    if (i < kNamed) text += params_[circle[i]].name + ", ";
    if (i == kNamed) text += "..., ";
  }
  throw InputError(
      {by_order ? "tasks wait for each other, as tasks of one stream run in the order of the graph"
                : "tasks wait for each other",
       "a cycle: " + text + params_[circle.front()].name,
       by_order ? "an order of the graph in which each comes behind what it waits for, or another "
                  "stream"
                : "dependences without a cycle",
       {},
       InputError::Kind::kBetween},
      indexed("graph", circle.front()) + ".after");
}

}  // namespace cxloom

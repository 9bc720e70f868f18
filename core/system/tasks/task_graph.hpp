// A graph of tasks, checked against the system that is to play it: who does each, in which order, on what.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/digraph.hpp"
#include "system/spec/spec.hpp"
#include "system/tasks/task_objects.hpp"

namespace cxloom {

class TransferEngine;

/// Bytes of an object that a task reads or writes.
struct TaskRange {
  std::uint32_t object = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool writes = false;
};

enum class LaneKind : std::uint8_t { kProcessor, kEngine, kThreads };

/// What does tasks one after the other, in the order of the graph.
struct TaskLane {
  LaneKind kind = LaneKind::kProcessor;
  std::string device;
  std::uint32_t stream = 0;
  std::uint32_t threads = 1;              ///< that its tasks use at most
  std::vector<std::uint32_t> tasks = {};  ///< in their order
  bool shares_name = false;               ///< a processor with the name of a device that has lanes

  /// "gpu", "gpu stream 1", "gpu (processor)".
  std::string name() const;
};

struct Task {
  std::uint32_t lane = 0;
  TaskKind kind = TaskKind::kCompute;
  Time least;  ///< so long its cores or its processor take
  std::vector<TaskRange> ranges = {};
  std::uint32_t threads = 1;
  bool random = false;

  /// What it moves in all.
  std::uint64_t bytes() const;
};

class TaskGraph {
 public:
  /// The spec and the objects outlive it. Throws InputError with a path from `tasks` on.
  TaskGraph(const Spec& spec, const System& system, const TaskObjects& objects);

  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<TaskLane>& lanes() const { return lanes_; }
  const std::string& name(std::uint32_t task) const { return params_[task].name; }
  /// The tasks that wait for a task by `after`.
  std::span<const std::uint32_t> behind(std::uint32_t task) const { return waits_->next(task); }
  /// How many a task waits for by `after`.
  std::uint32_t before(std::uint32_t task) const { return before_[task]; }

 private:
  void add(const TaskParams& params);
  void add_compute(const TaskParams& params, Task& task);
  void add_copy(const TaskParams& params, Task& task);
  void add_kernel(const TaskParams& params, Task& task);
  void put_on_host(const TaskParams& params, Task& task);
  void put_on_engine(const TaskParams& params, const TransferEngine& engine, bool writes, Task& task);
  enum class End : std::uint8_t { kFrom, kTo };  // of a copy
  TaskRange end_of(const TaskParams& params, End end) const;
  void join_lane(LaneKind kind, const std::string& device, const TaskParams& params, Task& task);
  Time least_of(const TaskParams& params, const std::string& device) const;
  TaskRange part_of(const std::string& object, const char* key, std::optional<Bytes> bytes, Bytes offset,
                    const char* offset_key = "offset") const;
  /// Throws InputError, at the key, if no way leads from a device to some of a part of an object.
  void check_reached(const std::string& device, const TaskRange& range, const char* key) const;
  void connect();
  void refuse_circle(const std::vector<Digraph::Edge>& edges) const;

  const std::vector<TaskParams>& params_;
  const std::vector<ProcessorParams>& processors_;
  const System& system_;
  const TaskObjects& objects_;
  std::vector<Task> tasks_;
  std::vector<TaskLane> lanes_;
  std::map<std::string, double> rates_;  // of processors, by name
  std::map<std::tuple<LaneKind, std::string, std::uint32_t>, std::uint32_t> lane_numbers_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::optional<Digraph> waits_;
  std::vector<std::uint32_t> before_;
};

}  // namespace cxloom

// Plays a graph of tasks on a running system: starts each when what it waits for has ended, and knows what
// became of it. docs/model/tasks.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "protocol/request_observer.hpp"
#include "system/tasks/dma_task.hpp"
#include "system/tasks/line_task.hpp"
#include "system/tasks/rate_sampler.hpp"
#include "system/tasks/task_graph.hpp"
#include "system/tasks/task_objects.hpp"
#include "system/tasks/task_stream.hpp"

namespace cxloom {

class TaskPlayer final : public EventHandler, private LaneObserver {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  /// The observer of the requester at a node.
  using ObserverAt = std::function<RequestObserver&(NodeId)>;
  /// What became of a task. Times are those of the graph: time that was skipped is in them.
  struct Record {
    Time start{-1};
    Time end{-1};
    std::uint32_t waited_for = kNobody;  ///< the task whose end let it start; nobody: it was the first
    bool failed = false;                 ///< some of its bytes were lost
    bool over() const { return end >= Time{}; }
  };

  /// Places the objects, checks the graph, and gives hosts their work. All outlive it. Throws InputError with
  /// a path from `tasks` on.
  TaskPlayer(Kernel& kernel, const Registry& registry, const Spec& spec, System& system,
             const ObserverAt& observer_at);

  /// Begins at the current time; `over` is called when the last task has ended.
  void start(std::function<void()> over);
  bool over() const { return left_ == 0; }
  /// Time of the graph.
  Time now() const;

  // When a task ends depends on these alone, and on times that are known.

  /// Accesses that a requester is sure to make before a task of it ends; ~0: it has none now.
  std::uint64_t accesses_left(const Requester& requester) const;
  /// DMA engines move something for tasks.
  bool engines_are_at_work() const;
  /// Parts of a divided system run side by side from now on, or do not. No task ends meanwhile: who starts
  /// others would do so at a time of its own.
  void go_side_by_side(bool side_by_side) { side_by_side_ = side_by_side; }

  std::string name() const override { return "tasks"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  const TaskGraph& graph() const { return graph_; }
  const TaskObjects& objects() const { return objects_; }
  const std::vector<Record>& records() const { return records_; }
  /// Time that was not simulated, for its lines moved at rates that were known.
  Time skipped() const { return skipped_; }
  const RateSampler& sampler() const { return sampler_; }
  /// Sentences on memory that objects are not in, and on why every line was simulated although nobody asked
  /// for that.
  std::vector<std::string> notes() const;

 private:
  struct Lane {
    std::size_t next = 0;  // of its tasks
    bool busy = false;
    TaskStream* stream = nullptr;
    TransferEngine* engine = nullptr;
    std::unique_ptr<LineTask> lines = {};
    std::unique_ptr<DmaTask> transfer = {};
    std::unique_ptr<RandomStream> random = {};
    LineTaskHost host = {};

    Activity* activity() const;
  };
  struct Done {
    std::uint32_t lane;
    bool failed;
  };
  using End = std::pair<Time, std::uint32_t>;  // of the graph, and the task

  void check_transfers(std::uint32_t lane);
  void give_streams(const Spec& spec, System& system, const ObserverAt& observer_at);
  void count_transfers(System& system, const ObserverAt& observer_at);
  void find_finite_work(const Spec& spec, const System& system);
  void lane_done(std::uint32_t lane, bool failed) override;
  void take_done();
  void end(std::uint32_t task);
  void may_start(std::uint32_t task, std::uint32_t by);
  void begin(std::uint32_t task, std::uint32_t by);
  void skip_time();
  void arm();

  Kernel& kernel_;
  EventSource source_;
  bool exact_;
  std::string remembering_;  // the first memory or cache that knows lines again; empty: none does
  bool works_on_ = false;    // some memory does, while no line is under way
  TaskObjects objects_;
  TaskGraph graph_;
  RateSampler sampler_;
  std::vector<Lane> lanes_;
  std::map<std::string, std::pair<TaskStream*, Requester*>> streams_;
  std::unordered_map<const Requester*, const TaskStream*> stream_of_;
  std::vector<std::pair<EngineWork*, Requester*>> engines_;  // with no other work
  std::vector<const Requester*> finite_;  // whose workloads end by themselves, and have not
  std::vector<Record> records_;
  std::vector<std::uint32_t> waits_;  // tasks that each waits for still
  std::vector<Done> done_;            // and not looked at
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<std::uint32_t> active_;  // lanes with lines, in the order of their beginnings
  std::size_t left_;
  bool started_ = false;
  bool side_by_side_ = false;
  bool changed_ = false;  // other lanes are active, or less work is finite
  Time skipped_;
  Time armed_ = Time::max();
  std::function<void()> over_;
};

}  // namespace cxloom

#include "system/tasks/task_player.hpp"

#include <algorithm>
#include <utility>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// Time of a graph ends here (53 days), as that of a simulation does.

// What else of a spec goes by the requests of a window has no meaning here.
void check_runs_tasks(const Spec& spec) {
  const auto refuse = [](const char* what, const char* key) {
    throw InputError({what,
                      {},
                      "no such key: tasks are measured from the first to the last",
                      {},
                      InputError::Kind::kBetween},
                     key);
  };
  if (spec.run.warmup > 0) refuse("a graph of tasks has no warm-up", "run.warmup");
  if (spec.run.warmup_time) refuse("a graph of tasks has no warm-up", "run.warmup_time");
  if (spec.run.until.ci) refuse("a graph of tasks ends with its last task", "run.until.ci");
  if (!spec.events.empty() && !spec.tasks.exact) {
    throw InputError({"events happen at their time, and time of tasks is passed over",
                      {},
                      "tasks.exact: true (--exact), or no events",
                      {},
                      InputError::Kind::kBetween},
                     "events");
  }
  if (spec.tasks.graph.empty() && !spec.tasks.file)
    throw InputError({"a graph without tasks", {}, "graph: a task or more", {}}, "tasks");
}

// Lines that were not simulated would be missing in what remembers them: memory, or a cache, which fills
// while a workload goes on beside tasks. Flash remembers which pages were written, and programs them when
// nobody waits.
struct Remembering {
  std::string first = {};  // the first memory or cache; empty: none
  bool works_on = false;   // some memory does by itself
};

Remembering remembering_in(const System& system) {
  Remembering found;
  for (const auto& [component, memory] : system.roles().all<MemoryOwner>()) {
    Media* const media = memory->media();
    if (!media) continue;
    bool remembers = false;
    each_medium(*media, [&](Media& each) {
      found.works_on |= each.past() != nullptr;
      remembers |= each.past() || each.remembers() > 0;
    });
    if (remembers && found.first.empty()) found.first = component->name();
  }
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (found.first.empty() && requester->cache() && requester->has_work())
      found.first = "the cache of " + component->name();
  }
  return found;
}

}  // namespace

Activity* TaskPlayer::Lane::activity() const {
  if (lines) return lines.get();
  return transfer.get();
}

TaskPlayer::TaskPlayer(Kernel& kernel, const Registry& registry, const Spec& spec, System& system,
                       const ObserverAt& observer_at)
    : kernel_(kernel),
      source_(kernel.new_source()),
      exact_((check_runs_tasks(spec), spec.tasks.exact)),
      objects_(registry, spec, system),
      graph_(spec, system, objects_),
      sampler_(spec.tasks.window, refresh_cycle_of(system)),
      lanes_(graph_.lanes().size()),
      records_(graph_.tasks().size()),
      left_(graph_.tasks().size()) {
  for (std::uint32_t task = 0; task < records_.size(); ++task) waits_.push_back(graph_.before(task));
  give_streams(spec, system, observer_at);
  count_transfers(system, observer_at);
  find_finite_work(spec, system);
  const Remembering found = remembering_in(system);
  remembering_ = found.first;
  works_on_ = found.works_on;
}

// Work ends with its trace, or with its number of requests.
void TaskPlayer::find_finite_work(const Spec& spec, const System& system) {
  for (const Spec::Workload& workload : spec.workloads) {
    const Requester* const requester = system.roles().of<Requester>(system.component(workload.device).id());
    if (!requester || streams_.contains(workload.device)) continue;
    if (workload.params.requests || workload.params.trace || requester->progress().expected)
      finite_.push_back(requester);
  }
}

void TaskPlayer::give_streams(const Spec& spec, System& system, const ObserverAt& observer_at) {
  std::map<std::string, std::unique_ptr<TaskStream>> made;
  for (std::uint32_t number = 0; number < lanes_.size(); ++number) {
    const TaskLane& about = graph_.lanes()[number];
    Lane& lane = lanes_[number];
    if (about.kind == LaneKind::kProcessor) continue;
    const NodeId node = system.component(about.device).id();
    if (about.kind == LaneKind::kEngine) {
      lane.engine = system.roles().of<TransferEngine>(node);
      check_transfers(number);
      continue;
    }
    Requester& requester = *system.roles().of<Requester>(node);
    const Requester::Traits traits = requester.traits();
    if (requester.has_work()) {
      throw InputError({"'" + about.device + "' has a workload, and makes no accesses of tasks",
                        {},
                        "one of the two",
                        {},
                        InputError::Kind::kBetween},
                       "workload." + about.device);
    }
    std::unique_ptr<TaskStream>& stream = made[about.device];
    if (!stream)
      stream = std::make_unique<TaskStream>(system.component(about.device).kernel(), requester,
                                            static_cast<LaneObserver&>(*this), traits.has_cores);
    stream->add_lane(number, about.threads);
    streams_[about.device] = {stream.get(), &requester};
    lane.stream = stream.get();
    lane.host.lane = about.name();
    lane.random = std::make_unique<RandomStream>(spec.run.seed, about.name(), "tasks");
    if (traits.has_cores) lane.host.cycles_per_ps = traits.core_clock.per_second() * 1e-12;
    else lane.host.lag = std::max(traits.queue / 2, 1U) - 1;
  }
  for (auto& [device, stream] : made) {
    Work work;
    work.name = "tasks";
    work.instruction_gaps = false;
    work.stream = std::move(stream);
    const auto& [given, requester] = streams_[device];
    stream_of_[requester] = given;
    requester->assign(std::move(work), observer_at(system.component(device).id()));
  }
}

// A device with a workload counts them already, and one that makes no requests counts none.
void TaskPlayer::count_transfers(System& system, const ObserverAt& observer_at) {
  for (const TaskLane& lane : graph_.lanes()) {
    if (lane.kind != LaneKind::kEngine) continue;
    const NodeId node = system.component(lane.device).id();
    Requester* const requester = system.roles().of<Requester>(node);
    if (!requester || requester->has_work()) continue;
    auto stream = std::make_unique<EngineWork>();
    engines_.emplace_back(stream.get(), requester);
    Work work;
    work.name = "tasks";
    work.instruction_gaps = false;
    work.stream = std::move(stream);
    requester->assign(std::move(work), observer_at(node));
  }
}

void TaskPlayer::check_transfers(std::uint32_t lane) {
  const DmaInitiator* const engine = lanes_[lane].engine->dma();
  if (!engine) return;
  const TaskLane& about = graph_.lanes()[lane];
  for (const std::uint32_t task : about.tasks) {
    with_path("tasks." + indexed("graph", task),
              [&] { DmaTask(graph_.tasks()[task], about, objects_, kernel_, *this).check(*engine); });
  }
}

std::uint64_t TaskPlayer::accesses_left(const Requester& requester) const {
  const auto found = stream_of_.find(&requester);
  return found == stream_of_.end() ? ~std::uint64_t{0} : found->second->accesses_left();
}

bool TaskPlayer::engines_are_at_work() const {
  return std::ranges::any_of(active_, [this](std::uint32_t lane) { return lanes_[lane].engine != nullptr; });
}

Time TaskPlayer::now() const { return kernel_.now() + skipped_; }

void TaskPlayer::start(std::function<void()> over) {
  over_ = std::move(over);
  armed_ = kernel_.now();
  kernel_.schedule(armed_, source_, *this, 0);
}

// Windows side by side end before the last access of a task is issued, and while engines are at work there
// are none: `done_` and the control's events are of one thread.
void TaskPlayer::lane_done(std::uint32_t lane, bool failed) {
  ensure(!side_by_side_, "a task was to end while parts ran side by side");
  done_.push_back({lane, failed});
  if (done_.size() == 1) kernel_.schedule(kernel_.now(), source_, *this, 0);
}

void TaskPlayer::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (left_ == 0) return;
  if (armed_ <= kernel_.now()) armed_ = Time::max();
  if (!std::exchange(started_, true)) {
    for (std::uint32_t task = 0; task < records_.size(); ++task) may_start(task, kNobody);
  }
  for (;;) {
    take_done();
    while (!ends_.empty() && ends_.top().first <= now()) {
      const std::uint32_t task = ends_.top().second;
      ends_.pop();
      end(task);
    }
    if (left_ == 0) break;
    const Time before = skipped_;
    skip_time();
    if (skipped_ == before) break;
  }
  if (left_ > 0) return arm();
  for (const auto& [device, stream] : streams_) {
    stream.first->close();
    stream.second->resume();
  }
  for (const auto& [work, requester] : engines_) {
    work->close();
    requester->resume();
  }
  over_();
}

// A kernel ends with its lines, and not before its cores have done their part.
void TaskPlayer::take_done() {
  for (const Done& done : std::exchange(done_, {})) {
    Lane& lane = lanes_[done.lane];
    const std::uint32_t number = graph_.lanes()[done.lane].tasks[lane.next - 1];
    std::erase(active_, done.lane);
    lane.lines.reset();
    lane.transfer.reset();
    changed_ = true;
    records_[number].failed = done.failed;
    const Time least = records_[number].start + graph_.tasks()[number].least;
    if (least > now()) ends_.emplace(least, number);
    else end(number);
  }
}

void TaskPlayer::end(std::uint32_t task) {
  records_[task].end = now();
  --left_;
  Lane& lane = lanes_[graph_.tasks()[task].lane];
  lane.busy = false;
  for (const std::uint32_t behind : graph_.behind(task)) --waits_[behind];
  for (const std::uint32_t behind : graph_.behind(task)) may_start(behind, task);
  const std::vector<std::uint32_t>& in_lane = graph_.lanes()[graph_.tasks()[task].lane].tasks;
  if (lane.next < in_lane.size()) may_start(in_lane[lane.next], task);
}

void TaskPlayer::may_start(std::uint32_t task, std::uint32_t by) {
  const std::uint32_t number = graph_.tasks()[task].lane;
  Lane& lane = lanes_[number];
  const std::vector<std::uint32_t>& in_lane = graph_.lanes()[number].tasks;
  if (lane.busy || waits_[task] > 0 || lane.next == in_lane.size() || in_lane[lane.next] != task) return;
  ++lane.next;
  lane.busy = true;
  begin(task, by);
}

void TaskPlayer::begin(std::uint32_t task, std::uint32_t by) {
  const Task& about = graph_.tasks()[task];
  Lane& lane = lanes_[about.lane];
  if (now() > kLatest - about.least)
    throw InputError({"the times of tasks run out of their 64 bits",
                      to_text(about.least),
                      "at most " + to_text(kLatest) + " for the graph",
                      {},
                      InputError::Kind::kBetween},
                     "tasks." + indexed("graph", task));
  records_[task].start = now();
  records_[task].waited_for = by;
  if (about.kind == TaskKind::kCompute) {
    ends_.emplace(now() + about.least, task);
    return;
  }
  active_.push_back(about.lane);
  changed_ = true;
  if (lane.engine) {
    lane.transfer = std::make_unique<DmaTask>(about, graph_.lanes()[about.lane], objects_, kernel_,
                                              static_cast<LaneObserver&>(*this));
    lane.engine->begin(graph_.lanes()[about.lane].stream, lane.transfer->way(), *lane.transfer);
  } else {
    lane.lines = std::make_unique<LineTask>(about, objects_, lane.host, *lane.random, kernel_.now());
    lane.stream->begin(about.lane, *lane.lines);
  }
}

void TaskPlayer::skip_time() {
  if (exact_) return;
  // No rate beside work that ends is one behind its end.
  if (std::erase_if(finite_, [](const Requester* each) { return each->finished(); }) > 0) changed_ = true;
  if (!finite_.empty()) return;
  if (std::exchange(changed_, false)) {
    std::vector<Activity*> activities;
    for (const std::uint32_t lane : active_) activities.push_back(lanes_[lane].activity());
    sampler_.begin(kernel_.now(), std::move(activities));
  }
  const Time most = ends_.empty() ? Time::max() : ends_.top().first - now();
  if (!active_.empty()) {
    // Rates are found beside what remembers, too, for those who want nothing else.
    skipped_ += sampler_.look(kernel_.now(), remembering_.empty() ? most : Time{});
  } else if (!ends_.empty() && !works_on_) {
    skipped_ += sampler_.pass(most);
  }
}

std::vector<std::string> TaskPlayer::notes() const {
  std::vector<std::string> notes = objects_.notes();
  if (exact_ || remembering_.empty()) return notes;
  notes.push_back((works_on_ ? "no time was passed over: " : "no time of transfers was passed over: ") +
                  remembering_ +
                  " remembers what it has served, and lines that are not simulated would not be there");
  return notes;
}

void TaskPlayer::arm() {
  Time next = ends_.empty() ? Time::max() : ends_.top().first - skipped_;
  if (!exact_ && !finite_.empty() && left_ > 0) next = std::min(next, kernel_.now() + sampler_.period());
  else if (!exact_ && !active_.empty()) next = std::min(next, sampler_.next_look());
  if (next >= armed_ || next == Time::max()) return;
  armed_ = next;
  kernel_.schedule(std::max(next, kernel_.now()), source_, *this, 0);
}

}  // namespace cxloom

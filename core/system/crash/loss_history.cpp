#include "system/crash/loss_history.hpp"
#include "protocol/request_observer.hpp"
#include "system/build/system_builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

std::vector<HistoryRequest> first_of_each(const Registry& registry, const Spec& spec,
                                          const TraceOpener& open_trace,
                                          const std::vector<std::uint64_t>& counts) {
  Kernel kernel;
  const System system = build_system(kernel, registry, spec);
  WorkloadBuilder maker(registry, spec, system, open_trace);
  std::vector<HistoryRequest> all;
  for (std::size_t i = 0; i < spec.workloads.size(); ++i) {
    const Work work = maker.make(spec.workloads[i]);
    Access access;
    for (std::uint64_t number = 0; number < counts.at(i) && work.stream->next(access); ++number)
      all.push_back({i, access});
  }
  return all;
}

/// By requester, its accesses of those that are left.
std::map<std::size_t, std::vector<Access>> work_left(const std::vector<HistoryRequest>& all,
                                                     const std::vector<std::size_t>& left) {
  std::map<std::size_t, std::vector<Access>> work;
  std::vector<std::optional<std::size_t>> places(all.size());  // among those of the requester that are left
  auto next = left.begin();
  bool fence = false;
  for (std::size_t i = 0; i < all.size() && next != left.end(); ++i) {
    if (i > 0 && all[i].requester != all[i - 1].requester) fence = false;
    Access access = all[i].access;
    fence |= access.dependence == kAllBefore;
    if (*next != i) continue;
    ++next;
    std::vector<Access>& accesses = work[all[i].requester];
    if (std::exchange(fence, false)) {
      access.dependence = kAllBefore;
    } else if (access.dependence != 0) {
      const auto needed = access.dependence <= i ? places[i - access.dependence] : std::nullopt;
      access.dependence = needed ? static_cast<std::uint32_t>(accesses.size() - *needed) : 0;
    }
    places[i] = accesses.size();
    accesses.push_back(access);
  }
  return work;
}

/// The system with these accesses instead of what its requesters do, and nothing but versions of lines
/// put out.
Spec spec_with(const Spec& spec, const std::map<std::size_t, std::vector<Access>>& work) {
  Spec result = spec;
  result.workloads.clear();
  for (const auto& [requester, accesses] : work) {
    Spec::Workload workload = spec.workloads[requester];
    workload.params.pattern.reset();
    workload.params.phases.clear();
    workload.params.requests.reset();
    workload.params.addresses = WorkloadParams{}.addresses;
    workload.params.trace = "a history";
    workload.pattern = Value(Value::Map{});
    result.workloads.push_back(std::move(workload));
  }
  result.run.warmup = 0;
  result.run.warmup_time.reset();
  result.run.until = {};
  result.run.threads = {};
  result.outputs = {};
  result.outputs.versions = true;
  return result;
}

std::uint64_t changes_in(const System& system) {
  std::uint64_t sum = system.versions()->changes();
  for (const auto& [component, buffer] : system.roles().all<PersistDomain>())
    sum += buffer->entries().changes();
  return sum;
}

}  // namespace

std::vector<std::uint64_t> requests_issued(const Simulation& simulation, const Spec& spec) {
  const System& system = simulation.system();
  std::vector<std::uint64_t> counts;
  for (const Spec::Workload& workload : spec.workloads)
    counts.push_back(system.roles().of<Requester>(system.component(workload.device).id())->progress().issued);
  return counts;
}

LossSearch::LossSearch(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
                       const std::vector<std::uint64_t>& issued, LossKind kind)
    : registry_(registry),
      spec_(spec),
      kind_(std::move(kind)),
      all_(first_of_each(registry, spec, open_trace, issued)) {
  for (std::size_t i = 0; i < all_.size(); ++i) left_.push_back(i);
}

std::vector<HistoryRequest> LossSearch::requests() const {
  std::vector<HistoryRequest> requests;
  for (const auto& [requester, accesses] : work_left(all_, left_)) {
    for (const Access& access : accesses) requests.push_back({requester, access});
  }
  return requests;
}

// A run that stands still, or that leaves a device without what it needs, loses nothing.
std::optional<LossShown> LossSearch::play(const std::vector<std::size_t>& left, const Look& look) const try {
  const auto work = work_left(all_, left);
  const TraceOpener open = [&](const std::string& device) {
    for (const auto& [requester, accesses] : work) {
      if (spec_.workloads[requester].device != device) continue;
      return TraceFeed{[&accesses, given = false](std::vector<Access>& batch) mutable {
                         if (std::exchange(given, true)) return false;
                         batch = accesses;
                         return true;
                       },
                       accesses.size()};
    }
    throw InternalError("a requester without requests");
  };
  NullObserver observer;
  Simulation simulation(registry_, spec_with(spec_, work), open, observer);
  const System& system = simulation.system();
  std::optional<NodeId> lost;
  if (kind_.lost_switch) lost = system.component(*kind_.lost_switch).id();
  HistoryRecorder recorder(simulation);
  simulation.watch(&recorder);
  while (simulation.past_left() > 0) {
    simulation.play_past(kBetweenLooks);
    look();
  }
  std::uint64_t seen = changes_in(system);
  std::uint64_t events = 0;
  for (bool over = false; !over;) {
    if (++events % kBetweenLooks == 0) look();
    over = simulation.advance(Time::max(), 1);
    if (changes_in(system) == seen) continue;
    seen = changes_in(system);
    recorder.look();
    std::vector<LostLine> lines = lost_at_power_loss(system, *kind_.order, lost);
    if (lines.empty()) continue;
    return LossShown{simulation.now(), std::move(lines), requests_issued(simulation, spec_), recorder.take()};
  }
  return std::nullopt;
} catch (const SimulationError&) {
  return std::nullopt;
} catch (const InputError&) {
  return std::nullopt;
}

bool LossSearch::try_with(const std::vector<std::size_t>& left, const Look& look) {
  auto shown = play(left, look);
  ++runs_;
  if (!shown) return false;
  left_ = left;
  shown_ = std::move(shown);
  behind_needed_ = false;
  return true;
}

bool LossSearch::step(const Look& look) {
  if (!shown_) return !try_with(left_, look) || left_.size() == 1;
  return !cut_behind(look) && leave_out_part(look);
}

// What was not made before the loss need not be there. True: that was a run.
bool LossSearch::cut_behind(const Look& look) {
  std::vector<std::uint64_t> places(spec_.workloads.size());
  std::vector<std::size_t> made;
  for (const std::size_t each : left_) {
    const std::size_t requester = all_[each].requester;
    if (places[requester]++ < shown_->issued[requester]) made.push_back(each);
  }
  if (made.size() == left_.size() || behind_needed_) return false;
  behind_needed_ = !try_with(made, look);
  return true;
}

// True: no request can be left out any more.
bool LossSearch::leave_out_part(const Look& look) {
  const std::size_t count = left_.size();
  parts_ = std::min(parts_, count);
  const std::size_t begin = part_ * count / parts_;
  const std::size_t end = (part_ + 1) * count / parts_;
  std::vector<std::size_t> left(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(begin));
  left.insert(left.end(), left_.begin() + static_cast<std::ptrdiff_t>(end), left_.end());
  if (!left.empty() && try_with(left, look)) {
    shorter_ = true;
    --parts_;  // of the same size as before
  } else {
    ++part_;
  }
  if (part_ < parts_) return false;
  part_ = 0;
  if (parts_ >= left_.size()) return !std::exchange(shorter_, false);
  parts_ = std::max<std::size_t>(2 * parts_, 2);
  shorter_ = false;
  return false;
}

}  // namespace cxloom

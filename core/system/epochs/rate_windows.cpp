#include "system/epochs/rate_windows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/measure.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"
#include "system/work/program_nodes.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {

namespace {

constexpr const char* kPlaced = "as in the epoch";
constexpr const char* kFolded = "folded";
constexpr const char* kWork = "of a window";
// Pages of each node that accesses are folded to: many enough that few accesses meet a page that moves.
constexpr std::uint64_t kFoldedPages = 256;
// Faults, promotions and scans of a window: as many as make their cost show, and few enough that none waits
// for another.
constexpr double kDisturbances = 200;

// Pauses between moves that a program has accesses for, and how much longer a window is for them at most.
constexpr double kPauses = 4;
constexpr double kMostWindows = 1000;

/// Counts the answers of a window.
class AnswerCount final : public RequestObserver {
 public:
  void measuring_begins(Time /*now*/) override {}
  void work_ends(Time /*now*/) override {}
  void completed(const Request& request, Time now) override {
    ++completed_;
    if (request.failed) ++failed_;
    auto& [answers, latency] = targets_[request.target.index()];
    ++answers;
    latency += static_cast<double>((now - request.created()).ps());
  }
  void line_completed(const Request& /*line*/, Time /*now*/) override {}
  void written_back(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}
  void prefetched(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}

  std::uint64_t completed() const { return completed_; }
  std::uint64_t failed() const { return failed_; }
  std::pair<std::uint64_t, double> of(NodeId target) const {
    const auto found = targets_.find(target.index());
    return found == targets_.end() ? std::pair<std::uint64_t, double>{} : found->second;
  }

 private:
  std::uint64_t completed_ = 0;
  std::uint64_t failed_ = 0;
  std::map<std::uint32_t, std::pair<std::uint64_t, double>> targets_;
};

/// Numbers among what a requester reports, those of maps by their own names.
class NumberSink final : public MeasureSink {
 public:
  void add(const MeasureInfo& measure, double value) override { numbers_[std::string(measure.name)] = value; }
  void count(const MeasureInfo& measure, std::uint64_t value) override {
    numbers_[std::string(measure.name)] = static_cast<double>(value);
  }
  void give(const MeasureInfo& /*measure*/, Value value) override {
    if (!value.as_map()) return;
    for (const auto& [name, item] : *value.as_map()) {
      if (item.as_real()) numbers_[name] = *item.as_real();
      if (item.as_integer()) numbers_[name] = static_cast<double>(*item.as_integer());
    }
  }
  double at(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? 0.0 : found->second;
  }

 private:
  std::map<std::string, double> numbers_;
};

Time time_of(double ps) { return Time{std::max<std::int64_t>(static_cast<std::int64_t>(ps), 1)}; }

/// All kinds, and those of windows.
Registry with_windows(const Registry& registry, const Spec::Workload& phase, const NodeOfPage& node_of,
                      std::size_t nodes, std::uint64_t pages, WindowWork work, Time period) {
  Registry all = registry;
  const std::uint64_t page = phase.params.page.count();
  all.placements.add_factory<WindowParams>(kPlaced, [=](const WindowParams&, PlacementContext&) {
    return std::unique_ptr<PagePlacement>(std::make_unique<PlacedNow>(node_of));
  });
  // Folded pages of a node follow each other.
  const auto of_folded = [=](std::uint64_t number) {
    return std::min<std::size_t>(number / pages, nodes - 1);
  };
  all.placements.add_factory<WindowParams>(kFolded, [=](const WindowParams&, PlacementContext&) {
    return std::unique_ptr<PagePlacement>(std::make_unique<PlacedNow>(of_folded));
  });
  const KindSpec pattern{*phase.params.pattern, phase.pattern};
  all.patterns.add_factory<WindowParams>(
      kFolded, [=, &registry](const WindowParams&, PatternContext& context) {
        return std::unique_ptr<AccessStream>(std::make_unique<FoldedStream>(
            registry.patterns.make(pattern, context), node_of, nodes, pages, page));
      });
  all.tiering.add_factory<WindowParams>(kWork, [=](const WindowParams&, TieringContext& context) {
    return std::unique_ptr<TieringPolicy>(std::make_unique<WindowPolicy>(work, period, context.nodes));
  });
  return all;
}

}  // namespace

double made_beside(double to_page) { return to_page > 0 ? -std::expm1(-to_page) / to_page : 1.0; }

RateWindows::RateWindows(const Registry& registry, const Spec& spec, std::vector<Spec::Workload> phases,
                         std::vector<std::uint64_t> frames, std::size_t nearest, std::uint64_t requests)
    : registry_(registry),
      spec_(spec),
      phases_(std::move(phases)),
      nodes_(frames.size()),
      nearest_(nearest),
      folded_(std::clamp<std::uint64_t>(std::ranges::min(frames) / 2, 1, kFoldedPages)),
      requests_(requests) {}

Spec RateWindows::window_of(std::size_t phase, const Setting& setting) const {
  Spec spec = spec_;
  spec.outputs = {};
  spec.run.until = {};
  const Value::Map none;
  Spec::Workload& workload = spec.workloads.front();
  WorkloadParams& params = workload.params;
  params.phases.clear();
  params.requests = requests_ * setting.windows;
  params.touched = Touched::kDuring;
  params.addresses = {setting.folded ? kFolded : kPlaced, Value(none)};
  params.pattern = setting.folded ? std::string(kFolded) : *phases_[phase].params.pattern;
  workload.pattern = setting.folded ? Value(none) : phases_[phase].pattern;
  params.shared_footprint = setting.folded ? params.threads > 1 : params.shared_footprint;
  params.tiering.reset();
  params.kernel = setting.kernel;
  if (setting.work != WindowWork::kNothing) params.tiering = KindSpec{kWork, Value(none)};
  return spec;
}

RateWindows::Found RateWindows::run(std::size_t phase, const NodeOfPage& node_of,
                                    const Setting& setting) const {
  const Registry registry =
      with_windows(registry_, phases_[phase], node_of, nodes_, folded_, setting.work, setting.period);
  AnswerCount answers;
  Simulation simulation(registry, window_of(phase, setting), {}, answers);
  simulation.run_until(Time::max());
  ++runs_;
  const std::string& device = spec_.workloads.front().device;
  Found found{.time = static_cast<double>(simulation.now().ps()),
              .window = static_cast<double>((simulation.window_end() - simulation.window_start()).ps()),
              .completed = answers.completed()};
  accesses_ += simulation.progress().completed;
  if (answers.failed() > 0) {
    throw InputError({"accesses are answered with errors, so that no rate can be told",
                      std::to_string(answers.failed()) + " of " + std::to_string(found.completed),
                      "a system whose memories answer",
                      {},
                      InputError::Kind::kBetween});
  }
  const System& system = simulation.system();
  for (const NumaNode& node :
       ProgramNodes(system, spec_.events).of(device, spec_.workloads.front().params.page)) {
    const auto [count, latency] = answers.of(node.targets.front().id);
    found.answers.push_back(count);
    found.latency.push_back(count > 0 ? latency / static_cast<double>(count) : 0.0);
  }
  NumberSink numbers;
  system.roles().of<Requester>(system.component(device).id())->report_requests(numbers);
  found.moved = numbers.at("pages_moved");
  found.moving = numbers.at("page_moves_ns") * 1000;
  found.faults = numbers.at("faults");
  found.taken = numbers.at("interrupted_ns") * 1000;
  return found;
}

double RateWindows::Found::latency_of_all() const {
  double sum = 0;
  double count = 0;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    sum += latency[node] * static_cast<double>(answers[node]);
    count += static_cast<double>(answers[node]);
  }
  return count > 0 ? std::max(sum / count, 1.0) : 1.0;
}

WindowRate RateWindows::rate(std::size_t phase, const NodeOfPage& node_of) const {
  const Found found = run(phase, node_of, {});
  if (found.window <= 0) {
    throw InputError({"the accesses of a window take no time, so that there is no rate",
                      {},
                      "memories, links or a host that take time",
                      {},
                      InputError::Kind::kBetween});
  }
  WindowRate rate{.rate = static_cast<double>(found.completed) / found.window, .latency = found.latency};
  std::uint64_t answered = 0;
  for (const std::uint64_t each : found.answers) answered += each;
  rate.in_flight = std::max(rate.rate * found.latency_of_all(), 1.0);
  rate.answered = std::min(1.0, static_cast<double>(answered) / static_cast<double>(found.completed));
  return rate;
}

// Pages of the nearest node and of the others move in turns.
double RateWindows::made_beside_folded(const Found& plain, double move) const {
  double answers = 0;
  for (const std::uint64_t each : plain.answers) answers += static_cast<double>(each);
  if (answers == 0 || plain.time <= 0) return 1;
  const double made = static_cast<double>(plain.completed) / plain.time * move;
  double nearest = 0;
  double others = 0;
  for (std::size_t node = 0; node < nodes_; ++node) {
    const double to_page =
        made * static_cast<double>(plain.answers[node]) / answers / static_cast<double>(folded_);
    if (node == nearest_) nearest = made_beside(to_page);
    else others += made_beside(to_page) / static_cast<double>(nodes_ - 1);
  }
  return (nearest + others) / 2;
}

WindowCosts RateWindows::costs(std::size_t phase, const NodeOfPage& node_of) const {
  const KernelCosts& kernel = spec_.workloads.front().params.kernel;
  KernelCosts free = kernel;
  free.protect = free.scan = free.interrupt = free.sample = Time{};
  const auto threads = static_cast<double>(spec_.workloads.front().params.threads);
  const Found plain = run(phase, node_of, {.folded = true});
  const Time period = time_of(plain.time / kDisturbances);
  WindowCosts costs;
  const auto disturbed = [&](WindowWork work, Time each, const KernelCosts& with, std::uint64_t windows = 1) {
    return run(phase, node_of,
               {.work = work, .folded = true, .period = each, .kernel = with, .windows = windows});
  };
  // With pauses between, in which the program goes on whatever a move takes of it.
  const Time pause = (kernel.unmap + kernel.shootdown + kernel.interrupt + time_of(1e6)) * 4;
  // A fast program makes all accesses of a window before the first page moves.
  const double some = std::ceil(kPauses * static_cast<double>(pause.ps()) / std::max(plain.time, 1.0));
  const auto windows = static_cast<std::uint64_t>(std::clamp(some, 1.0, kMostWindows));
  const Found moves = disturbed(WindowWork::kMoves, pause, kernel, windows);
  if (moves.moved > 0) {
    const double usual = plain.time * static_cast<double>(windows);
    costs.moving = std::clamp((usual - (moves.time - moves.moving)) / moves.moving, kLeastRate, 1.0);
    costs.move = costs.urgent = moves.moving / moves.moved;
    costs.beside = made_beside_folded(plain, costs.move / threads);
  }
  // What a disturbance of one thread takes of all of them, each.
  const auto hidden = [&](const Found& with, double each, double count) {
    return count > 0 ? std::clamp(each - (with.time - plain.time) * threads / count, 0.0, each) : 0.0;
  };
  costs.latency = plain.latency_of_all();
  if (kernel.fault > Time{}) {
    const Found faults = disturbed(WindowWork::kFaults, period, free);
    costs.hidden_fault = hidden(faults, static_cast<double>(kernel.fault.ps()), faults.faults);
  }
  const Found promotes = disturbed(WindowWork::kPromotes, period, free);
  if (promotes.moved > 0) costs.urgent = promotes.moving / promotes.moved;
  if (kernel.interrupt > Time{}) {
    KernelCosts scans = free;
    scans.scanner = Scanner::kProgram;
    scans.scan = kernel.interrupt * spec_.workloads.front().params.threads;
    const Found interrupts = disturbed(WindowWork::kScans, std::max(period, kernel.interrupt * 4), scans);
    const auto each = static_cast<double>(kernel.interrupt.ps());
    costs.hidden_interrupt = hidden(interrupts, each, interrupts.taken / each);
  }
  return costs;
}

}  // namespace cxloom

#include "system/epochs/page_study.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/schema.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

namespace {

// Stretches of accesses that a study has, about: faults within one are in the order of their accesses, and
// shares of what comes in turn are of one.
constexpr double kStretches = 8192;
// Least accesses that a share is of: a window has many in flight.
constexpr double kLeastAhead = 4096;
constexpr std::int64_t kEpochs = 100;
constexpr double kSecond = 1e12;  // ps

double most_apart(const std::vector<double>& one, const std::vector<double>& other) {
  double most = 0;
  for (std::size_t i = 0; i < one.size(); ++i) most = std::max(most, std::abs(one[i] - other[i]));
  return most;
}

Value list_of(const std::vector<double>& numbers) {
  Value::List list(numbers.begin(), numbers.end());
  return list;
}

}  // namespace

void EpochParams::describe(Schema<EpochParams>& schema) {
  schema.doc("A study of tiering by epochs.");
  schema.field("duration", &EpochParams::duration)
      .required()
      .min(Time{1})
      .max(Time{Time::max().ps() / 4})
      .doc("Simulated time at which the study ends, unless the requests of the workload end before.");
  schema.field("epoch", &EpochParams::epoch)
      .min(Time{1})
      .default_text("a hundredth of duration")
      .doc("Simulated time of a row of the result.");
  schema.field("window", &EpochParams::window)
      .min(100)
      .max(1U << 24U)
      .doc("Accesses of each short run of lines that gives a rate.")
      .source("own choice: a few hundred rounds of a queue of 64");
  schema.field("tolerance", &EpochParams::tolerance)
      .min(0.0001)
      .max(1.0)
      .doc("A rate holds while no node's share of the accesses is further from that of its window.")
      .source("own choice");
  schema.rule(
      "more than 100000 epochs",
      [](const EpochParams& params) {
        return !params.epoch || params.duration.ps() / params.epoch->ps() <= 100'000;
      },
      "epoch");
}

PageStudy::PageStudy(const Registry& registry, Spec spec, const EpochParams& params)
    : registry_(registry),
      spec_(StudiedProgram::within_reach(registry, std::move(spec))),
      params_(params),
      program_(registry_, spec_),
      pages_(program_.demand(), program_.placed(), program_.frames()),
      windows_(registry_, spec_, program_.phases(), program_.frames(),
               nearest_first(program_.tiering().nodes).front(), params_.window),
      costs_(program_.demand().phases()),
      end_(params_.duration) {
  if (!params_.epoch) params_.epoch = Time{std::max<std::int64_t>(params_.duration.ps() / kEpochs, 1)};
  most_ = static_cast<double>(program_.requests());
  ahead_ = kLeastAhead;
  look_at_rates();
  const double expected = std::min(most_, rate_.rate * static_cast<double>(end_.ps()));
  const double width = std::max(std::floor(expected / kStretches), 1.0);
  ahead_ = std::max(width, kLeastAhead);
  EpochKernel::Program program{
      .demand = program_.demand(),
      .pages = program_.pages(),
      .is_explicit = [this](std::uint64_t page) { return program_.is_explicit(page); },
      .threads = program_.threads(),
      .has_cores = program_.has_cores(),
      .draw = {}};
  auto draws = std::make_shared<RandomStream>(spec_.run.seed, "epochs", "samples");
  program.draw = [this, draws](std::size_t phase) { return program_.draw(phase, clock_.accesses(), *draws); };
  kernel_ = std::make_unique<EpochKernel>(program_.tiering(), clock_, pages_, std::move(program), width,
                                          2 * expected, spec_.run.seed);
  kernel_->set_rates(rate_, cost_);
  kernel_->start();
}

bool PageStudy::advance(std::uint64_t steps) {
  for (; steps > 0 && !over(); --steps) step();
  if (!over()) return false;
  if (rows_.empty() || rows_.back().until < clock_.now() || rows_.back().accesses < clock_.accesses())
    end_row();
  return true;
}

void PageStudy::step() {
  const Time row_ends = Time{params_.epoch->ps() * static_cast<std::int64_t>(rows_.size() + 1)};
  const Time until = std::min({kernel_->next_time(), row_ends, end_});
  const double made = clock_.accesses();
  if (clock_.stalls()) {
    clock_.go_to(std::max(std::min(until, clock_.stalled_until()), clock_.now()), made);
  } else {
    const double rate = rate_.rate * (pages_.under_way() ? part_beside_move() : 1.0);
    const double next =
        std::max(std::min({kernel_->next_access(), program_.demand().phase_end(made), most_}), made);
    const double needed = std::ceil((next - made) / rate);
    const double left = static_cast<double>((until - clock_.now()).ps());
    const double reached = needed <= left ? next : std::min(made + left * rate, next);
    if (kernel_->reads_traffic()) kernel_->count_traffic(reached - made);
    clock_.go_to(needed <= left ? clock_.now() + Time{static_cast<std::int64_t>(needed)}
                                : std::max(until, clock_.now()),
                 reached);
  }
  kernel_->reach();
  if (clock_.now() >= row_ends) end_row();
  if (over()) return;
  const bool moved = kernel_->counts().moved - looked_ > pages_.count() / 1024;
  const bool other = program_.demand().phase_at(clock_.accesses()) != phase_;
  if (moved || other || clock_.accesses() >= turn_) look_at_rates();
}

// A program without cores stands still from its first access to the page that moves, and each thread of one
// with cores from its own. Windows have few pages, and each is accessed sooner than one of many: what one
// with cores measures then is the wait of the last thread, and not what the copy takes of the others. Where
// blocks come in turn, a page waits for its turn in both; and hot pages hold cores up no more than those of a
// window, as cores go on for a while.
double PageStudy::part_beside_move() const {
  const EpochPages::Move& move = *pages_.under_way();
  const PageDemand& demand = program_.demand();
  if (demand.has_turns(phase_)) return cost_.moving;
  const double length = move.urgent ? cost_.urgent : cost_.move;
  const double to_page = demand.share(phase_, move.page) * rate_.rate * length;
  const double threads = program_.threads();
  if (!program_.has_cores())
    return std::max(made_beside(to_page) * std::min(cost_.moving / cost_.beside, 1.0), kLeastRate);
  const double made = demand.thread_of(phase_, move.page) ? 1.0 - (1.0 - made_beside(to_page)) / threads
                                                          : made_beside(to_page / threads);
  return made > cost_.beside ? made : cost_.moving;
}

NodeOfPage PageStudy::placement_at(std::size_t phase) const {
  // Blocks that come in turn begin where they have come to.
  auto sweeps = program_.demand().sweeps(phase, clock_.accesses(), ahead_);
  return [this, sweeps = std::move(sweeps)](std::uint64_t page) {
    std::uint64_t number = program_.number_of(page);
    for (const PageDemand::Sweep& sweep : sweeps) {
      if (number < sweep.first || number >= sweep.first + sweep.pages) continue;
      number = sweep.first + (number - sweep.first + sweep.at) % sweep.pages;
      break;
    }
    return pages_.node_of(number);
  };
}

const PageStudy::Window& PageStudy::window_at(std::size_t phase, std::vector<double> shares) {
  Window* best = nullptr;
  for (Window& each : known_) {
    if (each.phase != phase || most_apart(each.shares, shares) > params_.tolerance) continue;
    if (!best || most_apart(each.shares, shares) < most_apart(best->shares, shares)) best = &each;
  }
  if (!best) {
    WindowRate rate =
        with_path("workload." + program_.device(), [&] { return windows_.rate(phase, placement_at(phase)); });
    known_.push_back({phase, std::move(shares), std::move(rate)});
    best = &known_.back();
  }
  ++best->uses;
  return *best;
}

void PageStudy::look_at_rates() {
  phase_ = program_.demand().phase_at(clock_.accesses());
  turn_ = clock_.accesses() + ahead_;
  if (kernel_) looked_ = kernel_->counts().moved;
  rate_ = window_at(phase_, pages_.shares(phase_, clock_.accesses(), ahead_)).rate;
  std::optional<WindowCosts>& costs = costs_[phase_];
  if (!costs) costs = windows_.costs(phase_, placement_at(phase_));
  cost_ = *costs;
  if (kernel_) kernel_->set_rates(rate_, cost_);
}

void PageStudy::end_row() {
  rows_.push_back({.until = clock_.now(),
                   .accesses = clock_.accesses(),
                   .lost = clock_.lost(),
                   .counts = kernel_->counts(),
                   .pages = {pages_.in_nodes().begin(), pages_.in_nodes().end()},
                   .free = {pages_.free().begin(), pages_.free().end()},
                   .shares = pages_.shares(phase_, clock_.accesses(), ahead_)});
}

Value PageStudy::by_node(std::span<const std::uint64_t> counts, std::uint64_t times) const {
  Value::Map map;
  const std::vector<std::string> names = program_.node_names();
  for (std::size_t node = 0; node < names.size(); ++node)
    map.emplace_back(names[node], number(counts[node] * times));
  return map;
}

Value PageStudy::counts_of(const KernelCounts& now, const KernelCounts& before) const {
  const std::uint64_t page = program_.page_bytes();
  return Value::Map{
      {"faults", number(now.faults - before.faults)},
      {"protected_pages", number(now.protected_pages - before.protected_pages)},
      {"scanned_pages", number(now.scanned - before.scanned)},
      {"samples", number(now.samples - before.samples)},
      {"shootdowns", number(now.shootdowns - before.shootdowns)},
      {"interrupted_ns", (now.interrupted - before.interrupted) / 1000},
      {"pages_moved", number(now.moved - before.moved)},
      {"page_moves_ns", (now.moving - before.moving) / 1000},
      {"promoted_bytes", number((now.promoted - before.promoted) * page)},
      {"demoted_bytes", number((now.demoted - before.demoted) * page)},
  };
}

Value PageStudy::value_of(const Row& row, const Row& before) const {
  const double length = static_cast<double>((row.until - before.until).ps()) / kSecond;
  Value value = counts_of(row.counts, before.counts);
  value.set("until_s", static_cast<double>(row.until.ps()) / kSecond);
  value.set("accesses", row.accesses - before.accesses);
  value.set("accesses_per_s", length > 0 ? (row.accesses - before.accesses) / length : 0.0);
  value.set("stalled_share", length > 0 ? std::min((row.lost - before.lost) / kSecond / length, 1.0) : 0.0);
  value.set("pages", by_node(row.pages, 1));
  value.set("free_bytes", by_node(row.free, program_.page_bytes()));
  Value::Map shares;
  const std::vector<std::string> names = program_.node_names();
  for (std::size_t node = 0; node < names.size(); ++node)
    shares.emplace_back(names[node], std::clamp(row.shares[node], 0.0, 1.0));
  value.set("access_shares", std::move(shares));
  return value;
}

Value PageStudy::result() const {
  Value result = counts_of(kernel_->counts(), {});
  const double time = static_cast<double>(clock_.now().ps()) / kSecond;
  result.set("device", program_.device());
  result.set("time_s", time);
  result.set("accesses", clock_.accesses());
  result.set("accesses_per_s", time > 0 ? clock_.accesses() / time : 0.0);
  result.set("stalled_share", time > 0 ? std::min(clock_.lost() / kSecond / time, 1.0) : 0.0);
  // Once the work is over nothing moves any more.
  const bool ended = clock_.accesses() >= most_;
  result.set("pages_not_moved", number(kernel_->not_moved() + (ended ? pages_.waiting() : 0)));
  result.set("page_bytes", number(program_.page_bytes()));
  result.set("footprint_bytes", number(pages_.count() * program_.page_bytes()));
  result.set("pages", by_node(pages_.in_nodes(), 1));
  result.set("free_bytes", by_node(pages_.free(), program_.page_bytes()));
  Value::List rows;
  Row before;
  for (const Row& row : rows_) {
    rows.push_back(value_of(row, before));
    before = row;
  }
  result.set("epochs", std::move(rows));
  Value::List windows;
  for (const Window& each : known_) {
    windows.emplace_back(Value::Map{{"phase", number(each.phase)},
                                    {"shares", list_of(each.shares)},
                                    {"accesses_per_s", each.rate.rate * kSecond},
                                    {"uses", number(each.uses)}});
  }
  result.set("windows", std::move(windows));
  Value::List costs;
  for (const std::optional<WindowCosts>& each : costs_) {
    if (!each) continue;
    costs.emplace_back(Value::Map{{"rate_while_moving", each->moving},
                                  {"move_ns", each->move / 1000},
                                  {"move_of_a_fault_ns", each->urgent / 1000},
                                  {"hidden_of_a_fault_ns", each->hidden_fault / 1000},
                                  {"hidden_of_an_interrupt_ns", each->hidden_interrupt / 1000}});
  }
  result.set("costs", std::move(costs));
  result.set("window_runs", number(windows_.runs()));
  result.set("window_accesses", number(windows_.accesses()));
  return result;
}

}  // namespace cxloom

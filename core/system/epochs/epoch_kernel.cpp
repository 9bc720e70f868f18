#include "system/epochs/epoch_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr double kStamps = 4294967295.0;

}  // namespace

EpochKernel::EpochKernel(const Tiering& tiering, EpochClock& clock, EpochPages& pages, Program program,
                         double width, double expected, std::uint64_t seed)
    : tiering_(tiering),
      costs_(tiering_.costs),
      sources_(tiering_.policy->sources()),
      clock_(clock),
      pages_(pages),
      program_(std::move(program)),
      calendar_(width),
      random_(seed, "epochs", "accesses"),
      unit_(std::max(1.0, std::ceil(expected / kStamps))),
      states_(pages.count()),
      seen_(sources_.accessed_bits ? pages.count() : 0),
      answered_(tiering_.nodes.size()),
      latency_(tiering_.nodes.size()) {}

void EpochKernel::start() {
  if (sources_.period != Time{}) next_look_ = clock_.now() + sources_.period;
  if (sources_.sample_every > 0) next_sample_ = static_cast<double>(sources_.sample_every) / rate_.answered;
}

void EpochKernel::set_rates(const WindowRate& rate, const WindowCosts& costs) {
  rate_ = rate;
  window_ = costs;
}

double EpochKernel::next_access() const {
  const auto due = calendar_.first();
  return std::min({due ? due->accesses : calendar_.end(), calendar_.end(), next_sample_});
}

Time EpochKernel::next_time() const {
  return std::min({next_look_, move_ends_, faults_.empty() ? Time::max() : faults_.front().over});
}

void EpochKernel::reach() {
  const Time now = clock_.now();
  if (move_ends_ <= now) end_move();
  while (!faults_.empty() && faults_.front().over <= now) end_fault();
  if (next_look_ <= now) look();
  if (clock_.stalls()) return;
  const double made = clock_.accesses();
  for (auto due = calendar_.first(); due && due->accesses <= made && !clock_.stalls();
       due = calendar_.first()) {
    calendar_.drop_first();
    fault(due->page);
  }
  if (next_sample_ <= made && !clock_.stalls()) sample();
  if (!calendar_.first() && calendar_.end() <= made) calendar_.turn();
}

void EpochKernel::count_traffic(double accesses) {
  const std::vector<double> shares =
      pages_.shares(program_.demand.phase_at(clock_.accesses()), clock_.accesses(), calendar_.width());
  for (std::size_t node = 0; node < shares.size(); ++node) {
    const double answers = accesses * rate_.answered * shares[node];
    answered_[node] += answers;
    latency_[node] += answers * rate_.latency[node];
  }
}

// --- What the policy hears of ---

// Its first access made since it was made inaccessible: the others of that thread wait with it.
void EpochKernel::fault(std::uint64_t page) {
  State& state = states_[page];
  state.is_protected = false;
  state.faulting = true;
  state.accessed = true;
  if (!seen_.empty()) seen_[page] = stamp(clock_.accesses());
  faults_.push_back({clock_.now() + costs_.fault, static_cast<std::uint32_t>(page)});
  stall(static_cast<double>(costs_.fault.ps()), window_.hidden_fault, program_.threads);
}

void EpochKernel::end_fault() {
  const Fault fault = faults_.front();
  faults_.pop_front();
  states_[fault.page].faulting = false;
  ++counts_.faults;
  const std::size_t phase = program_.demand.phase_at(clock_.accesses());
  const auto own = program_.demand.thread_of(phase, fault.page);
  urgent_ = true;
  tiering_.policy->faulted(
      {.page = fault.page,
       .node = pages_.node_of(fault.page),
       .thread = own ? *own : static_cast<std::uint32_t>(random_.below(program_.threads)),
       .write = !random_.chance(program_.demand.reads_of(phase, fault.page)),
       .latency = {}},
      *this);
  urgent_ = false;
  pay();
  const auto& under_way = pages_.under_way();
  if (!under_way || under_way->page != fault.page) return;
  // The access waits for its page, and without cores all others wait for it.
  if (program_.has_cores) {
    stall(static_cast<double>((move_ends_ - clock_.now()).ps()), 0, program_.threads);
  } else {
    clock_.stall_until(move_ends_);
  }
}

void EpochKernel::sample() {
  next_sample_ += static_cast<double>(sources_.sample_every) / rate_.answered;
  ++counts_.samples;
  take(costs_.sample, false);
  PageAccess access = program_.draw(program_.demand.phase_at(clock_.accesses()));
  access.node = pages_.node_of(access.page);
  access.latency = Time{static_cast<std::int64_t>(rate_.latency[access.node])};
  tiering_.policy->sampled(access, *this);
  pay();
}

void EpochKernel::look() {
  next_look_ = clock_.now() + sources_.period;
  looking_ = true;
  tiering_.policy->look(*this);
  looking_ = false;
  busy_until_ = clock_.now() + pay();
  next_look_ = std::max(next_look_, busy_until_);
}

bool EpochKernel::is_explicit(std::uint64_t page) const {
  return program_.is_explicit(number_of(known(page)));
}

std::uint64_t EpochKernel::number_of(std::uint64_t page) const {
  for (const PageRun& run : program_.pages) {
    if (page < run.count) return run.first + page;
    page -= run.count;
  }
  throw InternalError("a page that the program does not have");
}

Address EpochKernel::address_of(std::uint64_t page) const {
  return Address{number_of(known(page)) * tiering_.page.count()};
}

NodeTraffic EpochKernel::traffic(std::size_t node) const {
  ensure(sources_.traffic, "a tiering policy that reads traffic and does not declare it");
  return {static_cast<std::uint64_t>(answered_[node]), Time{static_cast<std::int64_t>(latency_[node])}};
}

std::uint64_t EpochKernel::coming(std::uint64_t page) const {
  const double made = clock_.accesses();
  const double more = static_cast<double>(sources_.foresees);
  return static_cast<std::uint64_t>(std::llround(program_.demand.expected(known(page), made, made + more)));
}

// --- What the policy does ---

std::uint64_t EpochKernel::known(std::uint64_t page) const {
  ensure(page < states_.size(), "a tiering policy that names a page that was never touched");
  return page;
}

void EpochKernel::settle_accessed(std::uint64_t page) {
  State& state = states_[page];
  const std::uint32_t now = stamp(clock_.accesses());
  const std::uint32_t since = std::exchange(seen_[page], now);
  if (state.is_protected || state.accessed || since == now) return;
  state.accessed =
      program_.demand.visited(page, since * unit_, std::min(now * unit_, clock_.accesses()), random_);
}

bool EpochKernel::protect(std::uint64_t page) {
  ensure(sources_.hint_faults, "a tiering policy that protects pages and does not declare hint faults");
  State& state = states_[known(page)];
  const bool moves = pages_.under_way() && pages_.under_way()->page == page;
  if (moves || state.is_protected || state.faulting) return false;
  if (!seen_.empty()) settle_accessed(page);
  state.is_protected = true;
  ++protected_now_;
  const double due = program_.demand.next(page, std::ceil(clock_.accesses()), random_);
  if (due != PageDemand::kNever) calendar_.add({due, static_cast<std::uint32_t>(page)});
  return true;
}

bool EpochKernel::accessed(std::uint64_t page) {
  ensure(sources_.accessed_bits, "a tiering policy that reads accessed bits and does not declare them");
  ++scanned_now_;
  settle_accessed(known(page));
  State& state = states_[page];
  const bool accessed = state.accessed;
  state.accessed = false;
  return accessed;
}

void EpochKernel::move(std::uint64_t page, std::size_t node) {
  ensure(node < tiering_.nodes.size(), "a tiering policy that names a node that is not there");
  pages_.order({known(page), node, urgent_});
  begin_moves();
}

void EpochKernel::look_at(Time time) {
  time = std::max({time, clock_.now(), busy_until_});
  if (looking_ || time < next_look_) next_look_ = time;
}

// --- Moves, and what all costs ---

void EpochKernel::begin_moves() {
  if (pages_.under_way()) return;
  const auto& move = pages_.begin_next();
  if (!move) return;
  const double length = move->urgent ? window_.urgent : window_.move;
  move_ends_ = clock_.now() + Time{std::max<std::int64_t>(static_cast<std::int64_t>(length), 1)};
  counts_.moving += length;
  // What the interrupts take is in the rate while pages move.
  shot_down(false);
}

void EpochKernel::end_move() {
  const EpochPages::Move move = *pages_.under_way();
  const Time before = tiering_.nodes[pages_.node_of(move.page)].distance;
  const Time after = tiering_.nodes[move.to].distance;
  pages_.settle();
  ++counts_.moved;
  counts_.promoted += after < before ? 1 : 0;
  counts_.demoted += after > before ? 1 : 0;
  move_ends_ = Time::max();
  begin_moves();
}

Time EpochKernel::pay() {
  const auto protects = static_cast<std::int64_t>(std::exchange(protected_now_, 0));
  const auto scans = static_cast<std::int64_t>(std::exchange(scanned_now_, 0));
  counts_.protected_pages += static_cast<std::uint64_t>(protects);
  counts_.scanned += static_cast<std::uint64_t>(scans);
  const Time work = costs_.protect * protects + costs_.scan * scans;
  if (costs_.scanner == Scanner::kProgram) take(Time{work.ps() / program_.threads}, true);
  if (protects == 0) return work;
  shot_down(true);
  return work + costs_.shootdown;
}

void EpochKernel::shot_down(bool stalls) {
  ++counts_.shootdowns;
  if (stalls) return take(costs_.interrupt, true);
  counts_.interrupted += static_cast<double>(costs_.interrupt.ps()) * program_.threads;
}

// The kernel's work cannot be hidden in more than the time since it had some before.
void EpochKernel::take(Time time, bool all_threads) {
  const auto each = static_cast<double>(time.ps());
  const double threads = all_threads ? 1.0 : program_.threads;
  counts_.interrupted += each * (all_threads ? program_.threads : 1);
  stall(each, std::min(window_.hidden_interrupt, clock_.since_stall() * threads / rate_.rate), threads);
}

void EpochKernel::stall(double ps, double hidden, double threads) {
  // A thread's own accesses since it stalled last are as many as all have made since any of them did.
  const double ready = std::min(clock_.since_stall() * threads / rate_.in_flight, 1.0);
  const double sooner = program_.has_cores ? 1.0 : rate_.in_flight / rate_.rate / window_.latency;
  clock_.stall((ps - std::min(hidden * ready * sooner, ps)) / threads);
}

}  // namespace cxloom

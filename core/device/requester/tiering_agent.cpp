#include "device/requester/tiering_agent.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/measure_table.hpp"
#include "kernel/kernel.hpp"
#include "workload/stream/foreseen.hpp"

namespace cxloom {

namespace {

struct TieringMeasured {
  std::uint64_t faults = 0;
  double fault_time = 0;
  std::uint64_t protected_pages = 0;
  std::uint64_t scanned = 0;
  std::uint64_t samples = 0;
  std::uint64_t shootdowns = 0;
  double interrupted = 0;
  std::uint64_t promoted = 0;
  std::uint64_t demoted = 0;
};

constexpr std::array kTieringMeasures{
    measure<&TieringMeasured::faults>("faults", "", "hint faults"),
    measure<&TieringMeasured::fault_time>("fault_ns", "ns", "time of these faults, moves aside"),
    measure<&TieringMeasured::protected_pages>("protected_pages", "",
                                               "pages that were made inaccessible, each time"),
    measure<&TieringMeasured::scanned>("scanned_pages", "", "pages whose accessed bit was read, each time"),
    measure<&TieringMeasured::samples>("samples", "", "accesses that were sampled"),
    measure<&TieringMeasured::shootdowns>(
        "shootdowns", "", "shoot-downs: before a page is copied, and behind pages that were protected"),
    measure<&TieringMeasured::interrupted>(
        "interrupted_ns", "ns",
        "time that the kernel took from the program's threads: shoot-downs, samples, and scans of theirs"),
    measure<&TieringMeasured::promoted>("promoted_bytes", "B", "bytes of pages that went to a nearer node"),
    measure<&TieringMeasured::demoted>("demoted_bytes", "B", "bytes of pages that went to a farther node"),
};

struct AgentMeasured {
  Value tiering;
};

constexpr std::array kAgentMeasures{
    measure<&AgentMeasured::tiering>(
        "tiering", "", "the kernel's work on its pages, in the whole run. Absent without tiering",
        parts_of<kTieringMeasures>()),
};

}  // namespace

TieringAgent::TieringAgent(Kernel& kernel, const EventHandler& owner, std::shared_ptr<const Tiering> tiering,
                           MovablePages& pages, PageMover& mover, TieredProgram& program)
    : kernel_(kernel),
      source_(kernel.new_source()),
      owner_(owner),
      tiering_(std::move(tiering)),
      costs_(tiering_->costs),
      sources_(tiering_->policy->sources()),
      pages_(pages),
      mover_(mover),
      program_(program),
      traffic_(tiering_->nodes.size()),
      until_sample_(sources_.sample_every) {}

Time TieringAgent::now() const { return kernel_.now(); }

void TieringAgent::start() {
  if (sources_.period == Time{}) return;
  schedule_look(now() + sources_.period);
}

void TieringAgent::schedule_look(Time time) {
  next_look_ = time;
  kernel_.schedule_background(time, source_, *this, kLook, ++looks_);
}

TieringAgent::PageState& TieringAgent::state_of(std::uint64_t page) {
  if (page >= states_.size()) states_.resize(pages_.count());
  return states_[page];
}

// --- What the policy hears of ---

bool TieringAgent::faults(Request& access, std::uint64_t page) {
  PageState& state = state_of(page);
  state.accessed = true;
  if (state.faulting) {
    for (Fault& fault : faults_) {
      if (fault.page == page) fault.accesses.push_back(&access);
    }
    return true;
  }
  if (!state.is_protected) return false;
  state.is_protected = false;
  state.faulting = true;
  faults_.push_back({page, {&access}});
  kernel_.schedule(now() + costs_.fault, source_, *this, kFaultOver);
  return true;
}

void TieringAgent::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kFaultOver) {
    end_fault();
  } else if (payload == looks_) {
    look();
  }
}

void TieringAgent::end_fault() {
  const Fault fault = std::move(faults_.front());
  faults_.pop_front();
  state_of(fault.page).faulting = false;
  ++faulted_;
  const Request& first = *fault.accesses.front();
  urgent_ = true;
  tiering_->policy->faulted({.page = fault.page,
                             .node = pages_.node_of(fault.page),
                             .thread = first.thread(),
                             .write = first.kind != AccessKind::kRead},
                            *this);
  urgent_ = false;
  pay();
  for (Request* const access : fault.accesses) {
    if (mover_.holds(access->address, access->size)) {
      mover_.hold(*access);
    } else {
      program_.fault_over(*access);
    }
  }
}

void TieringAgent::look() {
  next_look_ = now() + sources_.period;
  looking_ = true;
  tiering_->policy->look(*this);
  looking_ = false;
  const Time before = taken_;
  busy_until_ = now() + pay();
  check_progress(taken_ - before);
  schedule_look(std::max(next_look_, busy_until_));
}

// A look that takes long and nothing of the program leaves it its time: nobody waits for the answers of a
// shoot-down. Meanwhile a program without cores may stand still for a page that moves.
void TieringAgent::check_progress(Time taken) {
  constexpr std::uint32_t kMost = 16;  // behind so many, what was under way has mostly ended
  const bool starved = program_.stands_still() && now() + taken >= std::max(next_look_, busy_until_) &&
                       completed_ == std::exchange(completed_at_look_, completed_);
  starved_looks_ = starved ? starved_looks_ + 1 : 0;
  if (starved_looks_ < kMost) return;
  throw InputError({"the kernel's own work leaves the program no time: each look at its pages takes longer "
                    "than the time to the next one",
                    to_text(taken) + " for each look, every " + to_text(sources_.period),
                    costs_.scanner == Scanner::kOther
                        ? "looks that are rarer"
                        : "looks that are rarer or at fewer pages, or kernel: {scanner: other}",
                    {}},
                   "workload." + owner_.name() + ".tiering");
}

void TieringAgent::completed(const Request& access, Time now) {
  ++completed_;
  if (access.failed || access.target == access.requester()) return;
  const bool sampled = sources_.sample_every > 0 && --until_sample_ == 0;
  if (!sampled && !sources_.traffic && !counts_answers_) return;
  if (sampled) until_sample_ = sources_.sample_every;
  const auto page = pages_.page_at(access.address);
  if (!page) return;
  const std::size_t node = pages_.node_of(*page);
  traffic_[node].answered += 1;
  traffic_[node].latency += now - access.created();
  if (!sampled || pages_.is_table(*page)) return;
  ++samples_;
  take(access.thread(), costs_.sample);
  tiering_->policy->sampled({.page = *page,
                             .node = node,
                             .thread = access.thread(),
                             .write = access.kind != AccessKind::kRead,
                             .latency = now - access.created()},
                            *this);
  pay();
}

TieringAgent::Answers TieringAgent::answers() const {
  Answers answers{.nearest = traffic_[nearest_first(tiering_->nodes).front()].answered};
  for (const NodeTraffic& node : traffic_) answers.all += node.answered;
  return answers;
}

NodeTraffic TieringAgent::traffic(std::size_t node) const {
  ensure(sources_.traffic, "a tiering policy that reads traffic and does not declare it");
  return traffic_[known_node(node)];
}

std::uint64_t TieringAgent::coming(std::uint64_t page) const {
  ensure(tiering_->foreseen, "a tiering policy that foresees accesses and does not declare it");
  return is_table(page) ? 0 : tiering_->foreseen->coming(address_of(page));
}

// --- What the policy does ---

std::uint64_t TieringAgent::known_page(std::uint64_t page) const {
  ensure(page < pages_.count(), "a tiering policy that names a page that was never touched");
  return page;
}

std::size_t TieringAgent::known_node(std::size_t node) const {
  if (node < traffic_.size()) return node;
  std::vector<std::string> names;
  for (const NumaNode& each : tiering_->nodes)
    names.push_back(std::to_string(names.size()) + " (" + each.name() + ")");
  throw InternalError("a tiering policy that names node " + std::to_string(node) +
                      ", which is not there; allowed: " + list_names(names));
}

bool TieringAgent::protect(std::uint64_t page) {
  ensure(sources_.hint_faults, "a tiering policy that protects pages and does not declare hint faults");
  PageState& state = state_of(known_page(page));
  if (pages_.is_table(page) || mover_.moves(page) || state.is_protected || state.faulting) return false;
  state.is_protected = true;
  ++protected_now_;
  return true;
}

bool TieringAgent::accessed(std::uint64_t page) {
  ensure(sources_.accessed_bits, "a tiering policy that reads accessed bits and does not declare them");
  if (is_table(page)) return false;
  ++scanned_now_;
  PageState& state = state_of(page);
  const bool accessed = state.accessed;
  state.accessed = false;
  return accessed;
}

void TieringAgent::move(std::uint64_t page, std::size_t node) {
  if (is_table(page)) return;
  mover_.move(page, known_node(node),
              {.before = costs_.unmap + costs_.shootdown, .lines = costs_.copy_lines, .shoots_down = true},
              urgent_);
}

void TieringAgent::look_at(Time time) {
  time = std::max({time, now(), busy_until_});
  if (looking_) {
    next_look_ = time;
  } else if (time < next_look_) {
    schedule_look(time);
  }
}

// --- What it costs ---

Time TieringAgent::pay() {
  const auto protects = static_cast<std::int64_t>(std::exchange(protected_now_, 0));
  const auto scans = static_cast<std::int64_t>(std::exchange(scanned_now_, 0));
  protected_ += static_cast<std::uint64_t>(protects);
  scanned_ += static_cast<std::uint64_t>(scans);
  const Time work = costs_.protect * protects + costs_.scan * scans;
  const auto threads = static_cast<std::int64_t>(program_.running());
  if (costs_.scanner == Scanner::kProgram && threads > 0) take(std::nullopt, Time{work.ps() / threads});
  if (protects == 0) return work;
  shot_down();
  return work + costs_.shootdown;
}

void TieringAgent::shot_down() {
  ++shootdowns_;
  take(std::nullopt, costs_.interrupt);
}

void TieringAgent::take(std::optional<std::uint32_t> thread, Time time) {
  if (time > Time{}) taken_ += program_.interrupt(thread, time);
}

void TieringAgent::settled(const PageMove& move, bool moved) {
  if (!moved) return;
  for (Fault& fault : faults_) {
    for (Request* const access : fault.accesses) access->address = move.moved(access->address, access->size);
  }
  const Time before = tiering_->nodes[move.from_node].distance;
  const Time after = tiering_->nodes[move.node].distance;
  if (after < before) promoted_ += move.bytes;
  if (after > before) demoted_ += move.bytes;
}

std::vector<MeasureInfo> TieringAgent::measures() { return infos_of(kAgentMeasures); }

void TieringAgent::report(MeasureSink& sink) const {
  const TieringMeasured measured{.faults = faulted_,
                                 .fault_time = (costs_.fault * static_cast<std::int64_t>(faulted_)).ns(),
                                 .protected_pages = protected_,
                                 .scanned = scanned_,
                                 .samples = samples_,
                                 .shootdowns = shootdowns_,
                                 .interrupted = taken_.ns(),
                                 .promoted = promoted_,
                                 .demoted = demoted_};
  report_all(kAgentMeasures, {map_of(kTieringMeasures, measured)}, sink);
}

}  // namespace cxloom

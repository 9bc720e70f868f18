#include "fabric.hpp"

#include <cxloom/cxloom.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <base/logging.hh>
#include <base/output.hh>
#include <sim/core.hh>
#include "host.hpp"
#include "medium.hpp"

namespace gem5::cxl {

namespace {

// The answer says which access it is for by its tag: an object, or the intent of an access that nobody waits
// for. Objects are aligned, so that small numbers are none.
constexpr std::uint64_t kNoObject = 8;

std::uint64_t tag_of(const Access& access) {
  static_assert(static_cast<std::uint64_t>(Intent::kCleanEvict) < kNoObject);
  static_assert(alignof(HeldRequest) >= kNoObject);
  return reinterpret_cast<std::uintptr_t>(access.held) | static_cast<std::uint64_t>(access.intent);
}

int intent_of(const Access& access, bool coherent) {
  switch (access.intent) {
    case Intent::kCurrent: return coherent ? CXLOOM_CURRENT : CXLOOM_READ;
    case Intent::kShare: return CXLOOM_READ;
    case Intent::kOwn: return CXLOOM_OWN;
    case Intent::kUpgrade: return CXLOOM_UPGRADE;
    case Intent::kWrite: return CXLOOM_WRITE;
    case Intent::kWriteBack: return CXLOOM_WRITE_BACK;
    case Intent::kCleanEvict: return CXLOOM_CLEAN_EVICT;
  }
  return -1;
}

// The `bind` of an event is a map, which names a switch; that of a switch is a list.
bool binds_later(const std::string& json) {
  constexpr std::string_view kBind = R"("bind")";
  for (std::size_t at = json.find(kBind); at != std::string::npos; at = json.find(kBind, at + 1)) {
    const std::size_t value = json.find_first_not_of(": \t\r\n", at + kBind.size());
    if (value != std::string::npos && json[value] == '{') return true;
  }
  return false;
}

// gem5 takes letters, digits and _ in the name of a statistic.
std::string statistic_of(std::string measure) {
  for (char& c : measure)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return measure;
}

}  // namespace

void Fabric::Close::operator()(cxloom_simulation* simulation) const { cxloom_close(simulation); }

Fabric::Stats::Stats(Fabric& fabric, const std::vector<std::string>& measures) : Group(&fabric) {
  for (const std::string& measure : measures) {
    values.push_back(std::make_unique<statistics::Scalar>(
        this, statistic_of(measure).c_str(), statistics::units::Unspecified::get(),
        ("cxloom's " + measure + ", of the time since the last reset or dump").c_str()));
  }
}

Fabric::Fabric(const CxlFabricParams& params)
    : Path(params),
      spec_(params.spec),
      plugins_(params.plugins),
      measures_(params.measures),
      summary_(params.summary),
      wake_event_(
          [this] {
            pass_time();
            wake();
          },
          name() + ".wake"),
      stats_(*this, measures_) {
  fatal_if(sim_clock::Frequency != 1'000'000'000'000, "%s: a tick must be a picosecond, and %u are a second.",
           name(), sim_clock::Frequency);
  open();
  try_measures();
  if (summary_.empty()) return;
  make_folder();
  registerExitCallback([this] { write_summary(); });
}

Fabric::~Fabric() = default;

// ---- The system

void Fabric::fail(const std::string& what) const {
  fatal("%s: %s: %s", name(), what, cxloom_error(simulation_.get()));
}

void Fabric::open() {
  std::ifstream file(spec_);
  std::ostringstream text;
  fatal_if(!file || !(text << file.rdbuf()),
           "%s: spec: \"%s\" cannot be read; `cxloom resolve SYSTEM.yaml` prints what goes there.", name(),
           spec_);
  std::vector<const char*> plugins;
  plugins.reserve(plugins_.size() + 1);
  for (const std::string& plugin : plugins_) plugins.push_back(plugin.c_str());
  plugins.push_back(nullptr);
  char* error = nullptr;
  simulation_.reset(cxloom_open(text.str().c_str(), plugins.data(), &error));
  binds_later_ = binds_later(text.str());
  if (!simulation_) {
    const std::string why = error ? error : "out of memory";
    cxloom_free(error);
    fatal("%s: %s: %s", name(), spec_, why);
  }
}

Path::Seat Fabric::seat(Host& host) {
  const auto same = [&host](const auto& member) { return member->host->device() == host.device(); };
  fatal_if(std::any_of(members_.begin(), members_.end(), same), "%s: two hosts are \"%s\" of the system.",
           name(), host.device());
  members_.push_back(std::make_unique<Member>(Member{this, &host, -1, false}));
  join(*members_.back());
  check_addresses(*members_.back());
  return {static_cast<unsigned>(members_.size() - 1), members_.back()->coherent};
}

void Fabric::join(Member& member) {
  cxloom_simulation* const simulation = simulation_.get();
  member.device = cxloom_device(simulation, member.host->device().c_str());
  if (member.device < 0) fail("the host \"" + member.host->device() + '"');
  const cxloom_tell answered = [](void* user, const cxloom_answer* answer) {
    const Member& at = *static_cast<Member*>(user);
    Fabric& fabric = *at.fabric;
    fatal_if(
        answer->failed,
        "%s: memory has answered \"%s\" without data: it is poisoned, has failed, or is bound to another "
        "host.",
        fabric.name(), at.host->device());
    panic_if(fabric.time_here(answer->picoseconds) != curTick(), "%s: an answer of %d came at another time.",
             fabric.name(), answer->picoseconds);
    --fabric.under_way_;
    auto* const held = reinterpret_cast<HeldRequest*>(answer->tag & ~(kNoObject - 1));
    at.host->answered({held, static_cast<Intent>(answer->tag & (kNoObject - 1)),
                       static_cast<Tick>(answer->latency), answer->segments,
                       answer->granted == CXLOOM_SHARED});
  };
  if (cxloom_answers(simulation, member.device, answered, &member) != 0)
    fail("the host \"" + member.host->device() + '"');
  const cxloom_snoop snoop = [](void* user, std::uint64_t id, std::uint64_t address, int purpose) {
    static_cast<Member*>(user)->host->snoop(id, address, purpose != CXLOOM_TO_INVALIDATE);
  };
  member.coherent = cxloom_external_cache(simulation, member.device, snoop, &member) == 0;
}

// An address that no memory has is seen before the first tick, and so is memory of another host, unless an
// event of the spec may bind it to this one later.
void Fabric::check_addresses(const Member& member) {
  if (binds_later_) return;
  const Addr ends[] = {member.host->first_address(), member.host->last_address() / 64 * 64};
  for (const Addr address : ends) {
    cxloom_access access{};
    access.address = address;
    access.bytes = 64;
    access.intent = member.coherent ? CXLOOM_CURRENT : CXLOOM_READ;
    access.memory = CXLOOM_MAPPED;
    if (cxloom_estimate(simulation_.get(), member.device, &access) < 0)
      fail("the memory of \"" + member.host->device() + "\"");
  }
}

// ---- Time

void Fabric::startup() {
  Path::startup();
  base_ = curTick();
  started_ = true;
  wake();
}

// Answers and snoops go into the caches here and nowhere else: not from within a packet that a bus is about
// to deliver. So what is given is for a time that the system has not come to, and answers of caches wait for
// here.
void Fabric::pass_time() {
  time_passes_ = true;
  if (cxloom_run_until(simulation_.get(), time_there(curTick())) < 0) fail("the system");
  for (const SnoopAnswer& answer : std::exchange(snoop_answers_, {})) tell(answer);
  time_passes_ = false;
}

// An answer, a snoop or an access of a medium comes no earlier than this.
void Fabric::wake() {
  if (time_passes_) return;
  const std::int64_t next = cxloom_next_call(simulation_.get());
  if (next < 0) fail("the system");
  if (!snoop_answers_.empty()) {
    reschedule(wake_event_, curTick(), true);
  } else if (next != INT64_MAX) {
    reschedule(wake_event_, std::max(curTick(), time_here(next)), true);
  } else if (wake_event_.scheduled()) {
    deschedule(wake_event_);
  }
  if (drainState() == DrainState::Draining && under_way_ == 0) signalDrainDone();
}

// ---- Hosts

void Fabric::give(unsigned host, const Access& access) {
  const Member& member = *members_[host];
  cxloom_access given{};
  given.address = access.address;
  given.tag = tag_of(access);
  given.ready = time_there(access.ready);
  given.bytes = access.bytes;
  given.intent = intent_of(access, member.coherent);
  given.memory = CXLOOM_MAPPED;
  ++under_way_;
  if (cxloom_give(simulation_.get(), member.device, &given) != 0)
    fail("an access of \"" + member.host->device() + '"');
  wake();
}

void Fabric::snooped(unsigned host, std::uint64_t number, Snooped held) {
  if (time_passes_) return tell({host, number, held});
  snoop_answers_.push_back({host, number, held});
  reschedule(wake_event_, curTick(), true);
}

void Fabric::tell(const SnoopAnswer& answer) {
  const Member& member = *members_[answer.host];
  const int state = answer.held == Snooped::kDirty   ? CXLOOM_MODIFIED
                    : answer.held == Snooped::kClean ? CXLOOM_SHARED
                                                     : CXLOOM_INVALID;
  if (cxloom_snooped(simulation_.get(), member.device, answer.number, state) < 0)
    fail("a snoop of \"" + member.host->device() + '"');
}

Tick Fabric::estimate(unsigned host, const Access& access) {
  const Member& member = *members_[host];
  cxloom_access given{};
  given.address = access.address;
  given.bytes = access.bytes;
  given.intent = intent_of(access, member.coherent);
  given.memory = CXLOOM_MAPPED;
  const std::int64_t latency = cxloom_estimate(simulation_.get(), member.device, &given);
  if (latency < 0) fail("an access of \"" + member.host->device() + '"');
  return static_cast<Tick>(latency);
}

std::vector<std::string> Fabric::segments() const {
  std::vector<std::string> names;
  for (int i = 0; i < cxloom_segments(); ++i) names.emplace_back(cxloom_segment_name(i));
  return names;
}

// ---- Media

int Fabric::store(Medium& medium) {
  media_.push_back(&medium);
  join(medium);
  return cxloom_device(simulation_.get(), medium.device().c_str());
}

void Fabric::join(Medium& medium) {
  const int memory = cxloom_device(simulation_.get(), medium.device().c_str());
  if (memory < 0) fail("the memory \"" + medium.device() + '"');
  const cxloom_medium begins = [](void* user, const cxloom_medium_access* access) {
    static_cast<Medium*>(user)->begin(access->id, access->address, access->bytes, access->write != 0);
  };
  if (cxloom_external_medium(simulation_.get(), memory, begins, &medium) != 0)
    fail("the memory \"" + medium.device() + '"');
}

void Fabric::stored(int memory, std::uint64_t id) {
  if (cxloom_medium_done(simulation_.get(), memory, id, time_there(curTick())) != 0)
    fail("an access of a medium");
  wake();
}

// ---- Drains and checkpoints

DrainState Fabric::drain() { return under_way_ == 0 ? DrainState::Drained : DrainState::Draining; }

void Fabric::serialize(CheckpointOut& checkpoint) const {
  Path::serialize(checkpoint);
  checkpointed_ = true;
}

// A system that is restored is empty. The one that goes on begins anew, too, so that both are the same. It
// does not where caches hold lines that it would know nothing of.
void Fabric::drainResume() {
  Path::drainResume();
  const bool again = std::exchange(checkpointed_, false);
  for (const auto& member : members_)
    if (member->coherent) return;
  if (!again) return;
  open();
  for (const auto& member : members_) join(*member);
  for (Medium* const medium : media_) join(*medium);
  base_ = curTick();
  wake();
}

// ---- Measures

void Fabric::new_window() {
  pass_time();
  if (cxloom_new_window(simulation_.get()) != 0) fail("the measures");
}

void Fabric::resetStats() {
  Path::resetStats();
  if (!started_) return;
  new_window();
  wake();
}

void Fabric::preDumpStats() {
  Path::preDumpStats();
  if (measures_.empty() || !started_) return;
  new_window();
  read_measures();
  wake();
}

// A name that no summary has is seen before the first tick: in a window of no time, of a system that goes
// away, since the one that runs opens its first window when its warm-up is over.
void Fabric::try_measures() {
  if (measures_.empty()) return;
  cxloom_new_window(simulation_.get());
  if (cxloom_new_window(simulation_.get()) != 0) fail("the measures");
  read_measures();
  open();
}

void Fabric::read_measures() {
  for (std::size_t i = 0; i < measures_.size(); ++i) {
    double value = 0;
    if (cxloom_measure(simulation_.get(), measures_[i].c_str(), &value) != 0)
      fail("measures: \"" + measures_[i] + '"');
    *stats_.values[i] = value;
  }
}

// gem5 makes its output folder, and none within it.
void Fabric::make_folder() const {
  const std::filesystem::path folder = std::filesystem::path(simout.resolve(summary_)).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  fatal_if(error, "%s: summary: \"%s\" is in no folder, and none can be made: %s.", name(), summary_,
           error.message());
}

void Fabric::write_summary() {
  if (!started_) return;  // gem5 ends before its first tick: what is wrong has been said
  new_window();
  char* const text = cxloom_summary(simulation_.get());
  if (text == nullptr) fail("the summary");
  OutputStream* const file = simout.create(summary_);
  *file->stream() << text << '\n';
  simout.close(file);
  cxloom_free(text);
}

}  // namespace gem5::cxl

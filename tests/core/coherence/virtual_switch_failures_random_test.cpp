// Random systems whose coherent memories are bound to virtual switches, and in which links, switches and
// memories fail and are repaired, hosts crash, and memories move, managed or by surprise, at any time beside
// that: docs/model/virtual_switch.md. Every request is answered once, what an access sees is the latest write
// or poison, and there is one writer or there are readers after every event (support/coherence_oracle.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/failing_system.hpp"
#include "core/support/random_coherence.hpp"

namespace cxloom {
namespace {

using test::Draw;
using test::RandomCase;

constexpr std::uint64_t kOfHostInPool = 120;
constexpr std::uint64_t kPartOfPool = 1U << 20U;  // of each memory

/// What the lines of a memory are kept coherent by.
enum class KeptBy : std::uint8_t {
  kMemory,  ///< an agent in it (hdm-db)
  kAgent,   ///< a device of its own (hdm-db)
  kHost,    ///< the host upstream (hdm-h)
  kBias,    ///< the accelerator that has the memory (hdm-d)
};

/// Makes the system of a seed: a switch with virtual switches, each below a host or below a switch of two.
class FailingPool {
 public:
  FailingPool(std::uint64_t seed, const char* coherence)
      : draw_(seed, "failing pools"), seed_(seed), coherence_(coherence) {
    made_.fails = true;
    memories_ = draw_.between(1, 3);
    lines_ = draw_.between(1, 6);
    flits_ = draw_.chance(3);
    credits_ = draw_.chance(3);
    timeout_ = std::to_string(draw_.between(1, 9)) + "us";
    bind_from_the_beginning();
    write_memories();
    write_switch();
    if (moves_) move();
    if (!calm_) fail();
    std::ranges::stable_sort(events_, {}, &Event::at);
    for (const Event& each : events_) made_.system.event(each.params);
  }

  RandomCase made() {
    made_.system.run_with({{"seed", static_cast<std::int64_t>(seed_ % 1000)}});
    return std::move(made_);
  }

 private:
  struct Place {
    std::uint64_t vcs;
    std::uint64_t vppb;
  };
  struct Event {
    std::uint64_t at;
    Value::Map params;
  };
  struct Link {
    std::string a;
    std::string b;
    bool pair;  // there are two, of which one may fail
  };
  struct PooledMemory {
    KeptBy kept_by = KeptBy::kMemory;
    std::optional<std::uint64_t> vcs;  // none: it is bound to nothing, from the beginning
  };
  /// What hangs on the switch below.
  struct Below {
    std::string name;
    std::optional<Place> place;
  };

  bool is(const char* coherence) const { return coherence_ == coherence; }

  // A home apart from its memory is bound to the same virtual switch.
  void bind_from_the_beginning() {
    taken_.resize(draw_.between(1, 3), std::vector<bool>(2 * memories_ + 4));
    pool_.resize(memories_);
    moves_ = draw_.chance(2);
    calm_ = moves_ && draw_.chance(4);
    for (PooledMemory& memory : pool_) {
      memory.kept_by = is("hdm-h") ? KeptBy::kHost : is("hdm-d") ? KeptBy::kBias : KeptBy::kMemory;
      if (is("hdm-db") && draw_.chance(3)) memory.kept_by = KeptBy::kAgent;
      if (memory.kept_by == KeptBy::kMemory && draw_.chance(5)) continue;
      memory.vcs = draw_.below(taken_.size());
    }
  }

  void hang_below(const std::string& name, std::optional<std::uint64_t> vcs) {
    links_after_.emplace_back("sw", name);
    below_.push_back({name, vcs ? std::optional(free_place(*vcs)) : std::nullopt});
  }

  Place free_place(std::uint64_t vcs) {
    const auto free = static_cast<std::uint64_t>(std::ranges::find(taken_[vcs], false) - taken_[vcs].begin());
    taken_[vcs][free] = true;
    return {vcs, free};
  }

  // ---- Devices below the switch

  void write_memories() {
    for (std::uint64_t m = 0; m < memories_; ++m) {
      PooledMemory& memory = pool_[m];
      const std::string name = memory.kept_by == KeptBy::kBias ? "acc" + std::to_string(m) : memory_name(m);
      Value::Map params = test::drawn_memory(draw_, "1MiB");
      Value::Map agent = drawn_agent();
      Value::Map region{{"coherence", coherence_}};
      switch (memory.kept_by) {
        case KeptBy::kMemory: params.emplace_back("dcoh", agent); break;
        case KeptBy::kAgent:
          made_.system.device("home" + std::to_string(m), "dcoh", agent);
          region.emplace_back("home", "home" + std::to_string(m));
          break;
        case KeptBy::kHost: region.emplace_back("home", "h" + std::to_string(*memory.vcs)); break;
        case KeptBy::kBias: params.emplace_back("bias", agent); break;
      }
      if (memory.kept_by == KeptBy::kBias) {
        write_requester(name, "accelerator", {m}, true, {{"memory", params}});
      } else {
        made_.system.device(name, "memory", params);
        devices_.push_back(name);
      }
      hang(memory, name, m);
      made_.system.region({name}, region);
      if (memory.kept_by != KeptBy::kAgent) continue;
      hang_below("home" + std::to_string(m), memory.vcs);
    }
  }

  // At the switch itself, or behind one of its own.
  void hang(const PooledMemory& memory, const std::string& name, std::uint64_t number) {
    if (!draw_.chance(3)) return hang_below(name, memory.vcs);
    const std::string low = "low" + std::to_string(number);
    made_.system.device(low, "switch", {{"switching_time", draw_.ns(10)}});
    devices_.push_back(low);
    hang_below(low, memory.vcs);
    links_after_.emplace_back(low, name);
  }

  Value::Map drawn_agent() {
    Value::Map agent = test::drawn_home(draw_, coherence_, lines_);
    if (!calm_) agent.emplace_back("answer_timeout", timeout_);
    return agent;
  }

  // ---- The switch, and what is upstream

  void write_switch() {
    Value::List switches;
    for (std::uint64_t v = 0; v < taken_.size(); ++v) {
      const std::string upstream = write_hosts(v);
      add_accelerator(v);
      Value::List bound;
      for (const Below& each : below_) {
        if (each.place && each.place->vcs == v) bound.emplace_back(each.name);
      }
      switches.emplace_back(Value::Map{
          {"upstream", upstream}, {"vppbs", static_cast<std::int64_t>(2 * memories_ + 4)}, {"bind", bound}});
    }
    made_.system.device("sw", "switch",
                        {{"switching_time", draw_.ns(10)},
                         {"queueing", draw_.one_of({"output", "voq", "fifo"})},
                         {"vcs", switches}});
    devices_.emplace_back("sw");
    for (const auto& [a, b] : links_after_) link(a, b);
    join_upstream();
  }

  // What is upstream of a virtual switch. A host that is a home has no other host beside it.
  std::string write_hosts(std::uint64_t vcs) {
    const std::string name = "h" + std::to_string(vcs);
    if (!is("hdm-db") || draw_.chance(2)) {
      Value::Map agent;
      const auto at_home = [&](const PooledMemory& memory) { return memory.vcs == vcs; };
      if (is("hdm-h") && std::ranges::any_of(pool_, at_home)) agent = {{"home_agent", drawn_agent()}};
      write_requester(name, "host", all_memories(), true, agent);
      links_after_.emplace_back(name, "sw");
      single_.push_back(name);
      return name;
    }
    const std::string up = "up" + std::to_string(vcs);
    made_.system.device(up, "switch", {{"switching_time", draw_.ns(10)}});
    devices_.push_back(up);
    links_after_.emplace_back(up, "sw");
    for (const char* const which : {"a", "b"}) {
      write_requester(name + which, draw_.chance(4) ? "accelerator" : "host", all_memories(), true, {});
      links_after_.emplace_back(name + which, up);
    }
    ups_.push_back(up);
    return up;
  }

  // One that caches what the host keeps coherent.
  void add_accelerator(std::uint64_t vcs) {
    if (!is("hdm-h") || draw_.chance(3)) return;
    const std::string name = "nic" + std::to_string(vcs);
    write_requester(name, "accelerator", all_memories(), true, {});
    const std::string low = "below" + std::to_string(vcs);
    made_.system.device(low, "switch", {{"switching_time", draw_.ns(10)}});
    links_after_.emplace_back(low, name);
    hang_below(low, vcs);
  }

  // A second way for what is upstream, which leads by another virtual switch.
  void join_upstream() {
    if (ups_.size() > 1 && draw_.chance(2)) link(ups_[0], ups_[1]);
    if (!ups_.empty() && !single_.empty() && draw_.chance(2)) link(single_.front(), ups_.front());
  }

  std::vector<std::uint64_t> all_memories() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t m = 0; m < memories_; ++m) all.push_back(m);
    return all;
  }

  void write_requester(const std::string& name, const char* kind, const std::vector<std::uint64_t>& memories,
                       bool may_cache, Value::Map params) {
    test::RandomRequester requester{name, {}, {}};
    params.emplace_back("process_time", draw_.ns(10));
    params.emplace_back("queue", static_cast<std::int64_t>(draw_.between(1, 6)));
    if (!calm_) params.emplace_back("completion_timeout", timeout_);
    if (may_cache && !draw_.chance(6)) test::add_drawn_cache(draw_, params, requester.cache.emplace());
    const std::uint64_t reads = draw_.between(0, 10);
    const std::uint64_t atomics = draw_.chance(3) ? draw_.between(1, 5) : 0;
    for (std::uint64_t i = 0; i < kOfHostInPool; ++i) {
      const std::uint64_t memory = memories[draw_.below(memories.size())];
      const std::uint64_t address = memory * kPartOfPool + draw_.below(lines_) * kLineBytes;
      Access& access = requester.program.emplace_back(test::access_to(address));
      access.kind = draw_.below(10) < atomics ? AccessKind::kAtomic
                    : draw_.below(10) < reads ? AccessKind::kRead
                                              : AccessKind::kWrite;
      if (access.kind == AccessKind::kAtomic) access.size = kAtomicBytes;
    }
    made_.system.device(name, kind, params);
    made_.requesters.push_back(std::move(requester));
    crashing_.push_back(name);
  }

  // ---- What happens

  void move() {
    std::uint64_t at = 0;
    for (std::uint64_t times = draw_.between(1, 12); times > 0; --times) {
      at += draw_.below(1'500);
      Below& below = below_[draw_.below(below_.size())];
      std::optional<Place>& place = below.place;
      if (place) {
        binding(at, "unbind", {{"surprise", !calm_ && draw_.chance(2)}}, *place);
        taken_[place->vcs][place->vppb] = false;
        place.reset();
        if (draw_.chance(2)) continue;
      }
      place = free_place(draw_.below(taken_.size()));
      binding(at, "bind", {{"to", below.name}}, *place);
    }
  }

  void binding(std::uint64_t at, const char* what, Value::Map params, const Place& place) {
    params.emplace_back("switch", "sw");
    params.emplace_back("vcs", static_cast<std::int64_t>(place.vcs));
    params.emplace_back("vppb", static_cast<std::int64_t>(place.vppb));
    instants_.push_back(at + 1);
    events_.push_back({at + 1, {{"at", std::to_string(at + 1) + "ns"}, {what, params}}});
  }

  // As other systems beside coherence do; now and then in the instant of a binding, or right behind it.
  void fail() {
    std::vector<Value::Map> parts;
    for (std::uint64_t i = draw_.between(1, 3); i > 0; --i) {
      const auto& [a, b, pair] = links_[draw_.below(links_.size())];
      Value::Map part{{"link", Value::List{a, b}}};
      if (pair && !draw_.chance(3))
        part.emplace_back("number", static_cast<std::int64_t>(draw_.between(1, 2)));
      if (draw_.chance(3)) part = {{"device", devices_[draw_.below(devices_.size())]}};
      const auto is_it = [&](const Value::Map& other) { return other.front() == part.front(); };
      if (std::ranges::none_of(parts, is_it)) parts.push_back(part);
    }
    for (const Value::Map& part : parts) {
      std::uint64_t at = beginning();
      for (std::uint64_t times = draw_.between(1, 3); times > 0; --times) {
        Value::Map failure = part;
        failure.emplace_back("reroute_time", draw_.one_of({"0ns", "1ns", "100ns", "700ns", "4us"}));
        events_.push_back({at, {{"at", std::to_string(at) + "ns"}, {"fail", failure}}});
        at += draw_.below(8'000);
        if (draw_.chance(4)) break;
        events_.push_back({at, {{"at", std::to_string(at) + "ns"}, {"repair", part}}});
        at += draw_.below(3'000);
      }
    }
    if (crashing_.empty() || !draw_.chance(3)) return;
    const std::uint64_t at = beginning();
    events_.push_back({at, test::fail_device(std::to_string(at) + "ns",
                                             crashing_[draw_.below(crashing_.size())].c_str(), "300ns")});
  }

  std::uint64_t beginning() {
    if (instants_.empty() || draw_.chance(2)) return draw_.between(1, 15'000);
    return instants_[draw_.below(instants_.size())] + (draw_.chance(2) ? 0 : draw_.below(400));
  }

  static std::string memory_name(std::uint64_t number) { return "mem" + std::to_string(number); }

  void link(const std::string& a, const std::string& b) {
    Value::Map params{{"port_delay", draw_.ns(30)}};
    if (flits_) params.emplace_back("phy", "pcie6-x16");
    if (!flits_ && draw_.chance(2)) params.emplace_back("bandwidth", "16GB/s");
    if (credits_) params.emplace_back("credits", static_cast<std::int64_t>(draw_.between(2, 4)));
    const bool serves = b.starts_with("mem") || b.starts_with("home");
    const bool pair = !flits_ && !serves && draw_.chance(4);
    if (pair) params.emplace_back("count", 2);
    made_.system.link(a, b, params);
    links_.push_back({a, b, pair});
  }

  Draw draw_;
  std::uint64_t seed_;
  std::string coherence_;
  std::uint64_t memories_;
  std::uint64_t lines_;
  bool flits_ = false;
  bool credits_ = false;
  bool moves_ = false;
  bool calm_ = false;  // nothing fails: all that leaves is taken back
  std::string timeout_;
  std::vector<std::vector<bool>> taken_;  // by virtual switch and vPPB
  std::vector<PooledMemory> pool_;
  std::vector<Below> below_;
  std::vector<std::pair<std::string, std::string>> links_after_;  // when all devices are there
  std::vector<Link> links_;
  std::vector<std::string> devices_;   // that may fail
  std::vector<std::string> crashing_;  // requesters that may
  std::vector<std::string> single_;    // hosts at the switch itself
  std::vector<std::string> ups_;       // switches before it
  std::vector<std::uint64_t> instants_;
  std::vector<Event> events_;
  RandomCase made_;
};

TEST(CoherenceFailingPoolsRandom, EveryRequestEndsAndNobodySeesWhatIsOld) {
  test::play_random([](std::uint64_t seed) { return FailingPool(seed, "hdm-db").made(); }, 15'000,
                    4 * kOfHostInPool);
}

TEST(CoherenceFailingPoolsRandom, SoTheyDoWhereTheHostIsTheHome) {
  test::play_random([](std::uint64_t seed) { return FailingPool(seed, "hdm-h").made(); }, 10'000,
                    4 * kOfHostInPool);
}

TEST(CoherenceFailingPoolsRandom, AndWhereADeviceIsByBias) {
  test::play_random([](std::uint64_t seed) { return FailingPool(seed, "hdm-d").made(); }, 10'000,
                    4 * kOfHostInPool);
}

}  // namespace
}  // namespace cxloom

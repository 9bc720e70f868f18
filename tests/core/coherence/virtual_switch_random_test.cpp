// Random systems whose coherent memories are bound to virtual switches, move between them, and whose hosts
// ask for what is not theirs, too: docs/model/virtual_switch.md. Every request is answered once, with the
// latest write or with an error, and there is one writer or there are readers after every event
// (support/coherence_oracle.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/random_coherence.hpp"

namespace cxloom {
namespace {

using test::Draw;
using test::RandomCase;

constexpr std::uint64_t kOfPooledHost = 150;
constexpr std::uint64_t kPart = 1U << 20U;  // of each memory

std::vector<Access> pooled_program(Draw& draw, std::uint64_t memories, std::uint64_t lines) {
  const std::uint64_t reads = draw.between(0, 10);
  const std::uint64_t atomics = draw.chance(3) ? draw.between(1, 5) : 0;
  std::vector<Access> program;
  for (std::uint64_t i = 0; i < kOfPooledHost; ++i) {
    const std::uint64_t address = draw.below(memories) * kPart + draw.below(lines) * kLineBytes;
    Access& access = program.emplace_back(test::access_to(address));
    access.kind = draw.below(10) < atomics ? AccessKind::kAtomic
                  : draw.below(10) < reads ? AccessKind::kRead
                                           : AccessKind::kWrite;
    if (access.kind == AccessKind::kAtomic) access.size = kAtomicBytes;
  }
  return program;
}

/// Makes the system of a seed: a switch of several virtual switches, each below a host or below a switch of
/// two.
class Pooled {
 public:
  explicit Pooled(std::uint64_t seed, bool moves, bool surprises = false)
      : draw_(seed, "virtual switches"), seed_(seed), surprises_(surprises) {
    made_.fails = true;  // requests are, by the switch
    memories_ = draw_.between(1, 3);
    lines_ = draw_.between(1, 6);
    flits_ = draw_.chance(3);
    credits_ = draw_.chance(3);
    bind_from_the_beginning();
    write_switch();
    if (moves) move();
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

  void bind_from_the_beginning() {
    taken_.resize(draw_.between(1, 3), std::vector<bool>(memories_));
    places_.resize(memories_);
    for (std::uint64_t m = 0; m < memories_; ++m) {
      if (draw_.chance(5)) continue;
      const std::uint64_t vcs = draw_.below(taken_.size());
      const auto bound = static_cast<std::uint64_t>(std::ranges::count(taken_[vcs], true));
      taken_[vcs][bound] = true;
      places_[m] = Place{vcs, bound};
    }
  }

  void write_switch() {
    Value::List switches;
    for (std::uint64_t v = 0; v < taken_.size(); ++v) {
      Value::List bound;
      for (std::uint64_t m = 0; m < memories_; ++m) {
        if (places_[m] && places_[m]->vcs == v) bound.emplace_back(memory(m));
      }
      switches.emplace_back(Value::Map{
          {"upstream", write_hosts(v)}, {"vppbs", static_cast<std::int64_t>(memories_)}, {"bind", bound}});
    }
    made_.system.device("sw", "switch",
                        {{"switching_time", draw_.ns(10)},
                         {"queueing", draw_.one_of({"output", "voq", "fifo"})},
                         {"vcs", switches}});
    for (std::uint64_t m = 0; m < memories_; ++m) {
      Value::Map params = test::drawn_memory(draw_, "1MiB");
      params.emplace_back("dcoh", test::drawn_home(draw_, "hdm-db", lines_));
      made_.system.device(memory(m), "memory", params);
      link("sw", memory(m));
      made_.system.region({memory(m)}, {{"coherence", "hdm-db"}});
    }
  }

  // What is upstream of a virtual switch.
  std::string write_hosts(std::uint64_t vcs) {
    const std::string name = "h" + std::to_string(vcs);
    if (draw_.chance(2)) {
      write_host(name, "sw");
      return name;
    }
    const std::string up = "up" + std::to_string(vcs);
    made_.system.device(up, "switch", {{"switching_time", draw_.ns(10)}});
    link(up, "sw");
    for (const char* const which : {"a", "b"}) write_host(name + which, up);
    return up;
  }

  void write_host(const std::string& name, const std::string& at) {
    test::RandomRequester host{name, {}, {}};
    Value::Map params{{"process_time", draw_.ns(10)},
                      {"queue", static_cast<std::int64_t>(draw_.between(1, 6))}};
    if (!draw_.chance(6)) test::add_drawn_cache(draw_, params, host.cache.emplace());
    host.program = pooled_program(draw_, memories_, lines_);
    made_.system.device(name, draw_.chance(4) ? "accelerator" : "host", params);
    link(name, at);
    made_.requesters.push_back(std::move(host));
  }

  // Memories leave their virtual switches, and come to others.
  void move() {
    std::uint64_t at = 0;
    for (std::uint64_t times = draw_.between(1, 12); times > 0; --times) {
      at += draw_.below(1'500);
      const std::uint64_t m = draw_.below(memories_);
      std::optional<Place>& place = places_[m];
      if (place) {
        event(at, "unbind", {{"surprise", surprises_ && draw_.chance(2)}}, *place);
        taken_[place->vcs][place->vppb] = false;
        place.reset();
        continue;
      }
      const std::uint64_t vcs = draw_.below(taken_.size());
      const auto free =
          static_cast<std::uint64_t>(std::ranges::find(taken_[vcs], false) - taken_[vcs].begin());
      taken_[vcs][free] = true;
      place = Place{vcs, free};
      event(at, "bind", {{"to", memory(m)}}, *place);
    }
  }

  void event(std::uint64_t at, const char* what, Value::Map params, const Place& place) {
    params.emplace_back("switch", "sw");
    params.emplace_back("vcs", static_cast<std::int64_t>(place.vcs));
    params.emplace_back("vppb", static_cast<std::int64_t>(place.vppb));
    made_.system.event({{"at", std::to_string(at + 1) + "ns"}, {what, params}});
  }

  static std::string memory(std::uint64_t number) { return "mem" + std::to_string(number); }

  void link(const std::string& a, const std::string& b) {
    Value::Map params{{"port_delay", draw_.ns(30)}};
    if (flits_) params.emplace_back("phy", "pcie6-x16");
    if (!flits_ && draw_.chance(2)) params.emplace_back("bandwidth", "16GB/s");
    if (credits_) params.emplace_back("credits", static_cast<std::int64_t>(draw_.between(2, 4)));
    made_.system.link(a, b, params);
  }

  Draw draw_;
  std::uint64_t seed_;
  bool surprises_;
  std::uint64_t memories_;
  std::uint64_t lines_;
  bool flits_ = false;
  bool credits_ = false;
  std::vector<std::vector<bool>> taken_;      // by virtual switch and vPPB
  std::vector<std::optional<Place>> places_;  // by memory
  RandomCase made_;
};

TEST(CoherenceVirtualSwitchesRandom, EveryRequestEndsAndNobodySeesWhatIsOld) {
  test::play_random([](std::uint64_t seed) { return Pooled(seed, false).made(); }, 10'000, 4 * kOfPooledHost);
}

TEST(CoherenceVirtualSwitchesRandom, NorWhereMemoriesMoveBetweenThem) {
  test::play_random([](std::uint64_t seed) { return Pooled(seed, true).made(); }, 20'000, 4 * kOfPooledHost);
}

TEST(CoherenceVirtualSwitchesRandom, NorButAsPoisonWhereTheyAreRemovedBySurprise) {
  test::play_random([](std::uint64_t seed) { return Pooled(seed, true, true).made(); }, 20'000,
                    4 * kOfPooledHost);
}

}  // namespace
}  // namespace cxloom

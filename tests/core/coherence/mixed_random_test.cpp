// Random systems with several homes of coherent lines, of several kinds, at once: the memory of a host is a
// host's to keep coherent (HDM-H), or an agent's of its own (HDM-DB), that of an accelerator is its own by
// bias (HDM-D) or by an agent (HDM-DB), or anybody's as that of others; lines that nobody keeps coherent lie
// between. What each access sees is checked as in coherence_random_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/support/random_coherence.hpp"

namespace cxloom {
namespace {

using test::Draw;
using test::RandomCase;
using test::RandomRequester;

constexpr std::uint64_t kOfRequester = 150;
constexpr std::uint64_t kShare = 1024;  // bytes of a device in a region

/// Makes the system of a seed.
class Mixed {
 public:
  explicit Mixed(std::uint64_t seed) : draw_(seed, "mixed"), seed_(seed) {}

  RandomCase made() {
    do {
      devices_.clear();
      regions_.clear();
      host_of_.clear();
      draw_devices();
      draw_regions();
    } while (homes().size() < 2);
    place_devices();
    write_devices();
    write_links();
    write_regions();
    write_programs();
    made_.system.run_with(
        {{"seed", static_cast<std::int64_t>(seed_ % 1000)},
         {"routing", draw_.one_of({"deterministic", "random", "flow-hash", "adaptive", "valiant", "ugal"})}});
    return std::move(made_);
  }

 private:
  struct Device {
    std::string name;
    std::string kind;
    bool requests = false;
    bool cached = false;
    bool memory = false;
    std::string own;  // how it keeps its own memory coherent, and a host that of others; empty: not at all
    int at = 0;       // the switch
  };
  struct Region {
    std::vector<std::string> to;
    std::string coherence;
    std::string home;  // as written; empty: that of each target
    std::uint64_t first = 0;
    std::uint64_t lines = 0;        // that are used, of each target
    std::set<std::string> refused;  // which cache and must not use it
  };

  // ---- What there is

  void draw_devices() {
    const std::uint64_t hosts = draw_.between(1, 3);
    const std::uint64_t accelerators = draw_.between(hosts == 1 ? 1 : 0, 2);
    const std::uint64_t memories = draw_.between(0, 2);
    for (std::uint64_t i = 0; i < hosts; ++i) {
      Device& host = add("host", i);
      host.memory = !draw_.chance(3);
      if (!draw_.chance(3)) host.own = "hdm-h";
    }
    for (std::uint64_t i = 0; i < accelerators; ++i) {
      Device& accelerator = add("accelerator", i);
      accelerator.memory = !draw_.chance(4);
      if (accelerator.memory) accelerator.own = draw_.one_of({"", "hdm-db", "hdm-d", "hdm-d"});
    }
    for (std::uint64_t i = 0; i < memories; ++i) {
      Device& memory = add("memory", i);
      memory.memory = true;
      memory.own = draw_.one_of({"", "hdm-db"});
    }
    if (draw_.chance(2)) add("dcoh", 0).own = "hdm-db";
  }

  Device& add(const std::string& kind, std::uint64_t number) {
    Device& device = devices_.emplace_back();
    device.name = (kind == "accelerator" ? "acc" : kind == "memory" ? "mem" : kind) + std::to_string(number);
    device.kind = kind;
    device.requests = kind == "host" || kind == "accelerator";
    device.cached = device.requests && !draw_.chance(6);
    return device;
  }

  // Each device with memory has one region or two. Some regions of one kind become one, of several targets.
  void draw_regions() {
    for (const Device& device : devices_) {
      if (!device.memory) continue;
      for (std::uint64_t left = draw_.between(1, 2); left > 0; --left) {
        Region region = region_on(device);
        const auto same = std::ranges::find_if(regions_, [&](const Region& other) {
          return other.coherence == region.coherence && other.home == region.home &&
                 other.coherence != "hdm-d" && std::ranges::count(other.to, device.name) == 0;
        });
        if (same != regions_.end() && draw_.chance(2)) {
          same->to.push_back(device.name);
        } else {
          regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(draw_.below(regions_.size() + 1)),
                          std::move(region));
        }
      }
    }
    std::uint64_t first = 0;
    for (Region& region : regions_) {
      region.first = first;
      region.lines = draw_.between(1, 4);
      first += region.to.size() * kShare;
      if (region.coherence == "hdm-d") refuse_others(region);
    }
  }

  Region region_on(const Device& device) {
    std::vector<std::pair<std::string, std::string>> kinds{{"none", ""}};
    if (!device.own.empty()) kinds.insert(kinds.end(), 3, {device.own, ""});
    for (const Device& other : devices_) {
      const bool serves_others = other.kind == "host" || other.kind == "dcoh";
      if (serves_others && !other.own.empty()) kinds.emplace_back(other.own, other.name);
    }
    const auto& [coherence, home] = kinds[draw_.below(kinds.size())];
    return {.to = {device.name}, .coherence = coherence, .home = home};
  }

  // By bias a device knows one host that caches, and itself; devices without caches may use its memory, too.
  void refuse_others(Region& region) {
    std::vector<std::string> caching;
    for (const Device& device : devices_) {
      if (device.cached && device.name != region.to.front()) caching.push_back(device.name);
    }
    if (caching.empty()) return;
    const std::string& host =
        host_of_.try_emplace(region.to.front(), caching[draw_.below(caching.size())]).first->second;
    for (const std::string& name : caching) {
      if (name != host) region.refused.insert(name);
    }
  }

  std::set<std::string> homes() const {
    std::set<std::string> homes;
    for (const Region& region : regions_) {
      if (region.coherence == "none") continue;
      if (region.home.empty()) homes.insert(region.to.begin(), region.to.end());
      else homes.insert(region.home);
    }
    return homes;
  }

  bool has(const std::string& coherence) const {
    return std::ranges::any_of(regions_, [&](const Region& region) { return region.coherence == coherence; });
  }

  // ---- Where it is

  // An agent that reaches its memory over links that carry requests to agents, too, may wait for itself if
  // buffers are finite (docs/model/coherence.md, "What is not modelled"): it and its memories stand together.
  void place_devices() {
    bus_ = draw_.chance(6);
    credits_ = !bus_ && draw_.chance(2);
    flits_ = !bus_ && draw_.chance(2);
    switches_ = bus_ ? 1 : static_cast<int>(draw_.between(1, 3));
    for (Device& device : devices_)
      device.at = static_cast<int>(draw_.below(static_cast<std::uint64_t>(switches_)));
    if (!credits_) return;
    for (const Region& region : regions_) {
      if (region.home.empty() || device(region.home).kind != "dcoh") continue;
      for (const std::string& target : region.to) device(target).at = device(region.home).at;
    }
  }

  Device& device(const std::string& name) {
    return *std::ranges::find_if(devices_, [&](const Device& device) { return device.name == name; });
  }

  static std::string switch_name(int number) { return "sw" + std::to_string(number); }

  void write_links() {
    for (int s = 0; s < switches_; ++s) {
      if (bus_) {
        made_.system.device(switch_name(s), "bus", {{"bus_time", draw_.ns(10)}});
      } else {
        made_.system.device(
            switch_name(s), "switch",
            {{"switching_time", draw_.ns(10)}, {"queueing", draw_.one_of({"output", "voq", "fifo"})}});
      }
    }
    const bool snoops = has("hdm-db");
    const bool chain = draw_.chance(2);
    for (int s = 1; s < switches_; ++s)
      link(switch_name(chain ? s - 1 : 0), switch_name(s), snoops, draw_.chance(3));
    for (const Device& device : devices_) {
      const bool snoops_here = snoops && (device.cached || device.own == "hdm-db");
      link(device.name, switch_name(device.at), snoops_here, !bus_ && device.requests && draw_.chance(4));
    }
  }

  // `snoops`: back-invalidate snoops pass it, which 68B flits have none of.
  void link(const std::string& a, const std::string& b, bool snoops, bool twice) {
    Value::Map params{{"port_delay", draw_.ns(30)}};
    if (flits_ && !draw_.chance(4)) {
      const std::string flit = snoops ? draw_.one_of({"256B", "256B-lo", "256B-pbr"})
                                      : draw_.one_of({"68B", "256B", "256B-lo", "256B-pbr"});
      params.emplace_back("phy", flit == "256B" ? "pcie6-x16" : flit == "68B" ? "pcie5-x8" : "pcie6-x8");
      params.emplace_back("flit", flit);
    }
    if (credits_) params.emplace_back("credits", static_cast<std::int64_t>(draw_.between(1, 4)));
    if (twice) params.emplace_back("count", 2);
    made_.system.link(a, b, params);
  }

  // ---- What is written of it

  void write_devices() {
    for (const Device& device : devices_) {
      Value::Map params;
      RandomRequester requester{device.name, {}, {}};
      if (device.requests) {
        params.emplace_back("process_time", draw_.ns(10));
        params.emplace_back("queue", static_cast<std::int64_t>(draw_.between(1, 8)));
        if (draw_.chance(4)) params.emplace_back("issue_interval", draw_.ns(20));
      }
      if (device.cached) {
        test::add_drawn_cache(draw_, params, requester.cache.emplace());
      }
      if (device.requests) made_.requesters.push_back(std::move(requester));
      write_memory(device, params);
      made_.system.device(device.name, device.kind, params);
    }
  }

  void write_memory(const Device& device, Value::Map& params) {
    constexpr std::uint64_t kLines = 8;  // that filters are drawn for: of one region or two
    Value::Map home;
    if (!device.own.empty()) home = test::drawn_home(draw_, device.own, kLines);
    if (device.own == "hdm-h") params.emplace_back("home_agent", home);
    if (device.kind == "dcoh") params.insert(params.end(), home.begin(), home.end());
    if (!device.memory) return;
    Value::Map memory = test::drawn_memory(draw_, "4KiB");
    if (device.own == "hdm-db") memory.emplace_back("dcoh", home);
    if (device.own == "hdm-d") memory.emplace_back("bias", home);
    if (device.kind == "memory") params = std::move(memory);
    else params.emplace_back("memory", std::move(memory));
  }

  void write_regions() {
    for (const Region& region : regions_) {
      Value::Map params{{"coherence", region.coherence},
                        {"size", std::to_string(region.to.size() * kShare) + "B"},
                        {"interleave", "64B"},
                        {"policy", "weighted"}};
      if (!region.home.empty()) params.emplace_back("home", region.home);
      made_.system.region(region.to, params);
    }
  }

  // ---- What it does

  void write_programs() {
    for (std::size_t r = 0; r < made_.requesters.size(); ++r) {
      RandomRequester& requester = made_.requesters[r];
      const auto lines = lines_for(requester.name, r);
      if (lines.empty()) continue;
      const std::uint64_t reads = draw_.between(0, 10);
      const std::uint64_t atomics = draw_.chance(2) ? 0 : draw_.between(1, 10);
      const std::uint64_t parts = draw_.chance(2) ? 0 : draw_.between(1, 10);
      const std::uint64_t fences = draw_.chance(3) ? draw_.between(1, 5) : 0;
      for (std::uint64_t i = 0; i < kOfRequester; ++i) {
        const std::vector<std::uint64_t>& of_region = lines[draw_.below(lines.size())];
        Access& access = requester.program.emplace_back(
            test::access_to(of_region[draw_.below(of_region.size())] * kLineBytes));
        const bool atomic = draw_.below(10) < atomics;
        const bool part = draw_.below(10) < parts;
        access.kind = atomic                    ? AccessKind::kAtomic
                      : draw_.below(10) < reads ? AccessKind::kRead
                                                : AccessKind::kWrite;
        if (atomic || part) access.size = kAtomicBytes;
        if (draw_.below(20) < fences) access.dependence = kAllBefore;
        else if (draw_.chance(8)) access.dependence = static_cast<std::uint32_t>(draw_.between(1, 3));
      }
    }
  }

  // By region. Of lines that nobody keeps coherent each is one requester's.
  std::vector<std::vector<std::uint64_t>> lines_for(const std::string& name, std::size_t number) const {
    std::vector<std::vector<std::uint64_t>> lines;
    for (const Region& region : regions_) {
      if (region.refused.contains(name)) continue;
      std::vector<std::uint64_t> own;
      const std::uint64_t step = region.coherence == "none" ? made_.requesters.size() : 1;
      const std::uint64_t from = region.coherence == "none" ? number : 0;
      const std::uint64_t end = region.to.size() * kShare / kLineBytes;
      for (std::uint64_t i = from; i < std::min(end, region.lines * region.to.size() * step); i += step)
        own.push_back(region.first / kLineBytes + i);
      lines.push_back(std::move(own));
    }
    return lines;
  }

  Draw draw_;
  std::uint64_t seed_;
  std::vector<Device> devices_;
  std::vector<Region> regions_;
  std::map<std::string, std::string> host_of_;  // of devices that keep their memory coherent by bias
  bool bus_ = false;
  bool credits_ = false;
  bool flits_ = false;
  int switches_ = 1;
  RandomCase made_;
};

RandomCase made_of_all(std::uint64_t seed) { return Mixed(seed).made(); }

/// Snoops wait for as many answers fewer as other homes have sent to the cache: with one home, for as many as
/// they should.
test::Fault mixes_up_homes() {
  struct Sent {
    std::map<std::uint32_t, std::uint32_t> to;  // by cache
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> from;
  };
  return {"answers of one home stand for those of another", [sent = Sent{}](Message& message) mutable {
            const std::uint32_t home = message.source.index();
            const std::uint32_t cache = message.destination.index();
            if (message.channel == Channel::kH2DRsp) {
              ++sent.to[cache];
              ++sent.from[{home, cache}];
            } else if (message.channel == Channel::kH2DReq) {
              const std::uint32_t others = sent.to[cache] - sent.from[{home, cache}];
              message.pushes -= std::min(message.pushes, others);
            }
            return test::MessageBench::Fate::kQueued;
          }};
}

// One each that systems with one home would show, by their kinds, and one that they would not.
TEST(CoherenceMixed, FindsFaults) {
  const std::vector<test::MakeFault> faults{
      [] { return test::turns(Opcode::kBISnpInv, Opcode::kBISnpData); },
      [] { return test::turns(Opcode::kGoS, Opcode::kGoE); },
      [] { return test::turns(Opcode::kRdOwnNoData, Opcode::kRdShared); },
      mixes_up_homes,
  };
  for (const test::MakeFault& fault : faults) {
    const auto failure = test::first_failure(made_of_all, 1, 60'000, 3 * kOfRequester, fault);
    ASSERT_TRUE(failure) << fault().name;
    std::size_t accesses = 0;
    for (const std::size_t length : failure->lengths) accesses += length;
    EXPECT_LE(accesses, 250U) << fault().name << ": " << failure->text();
    EXPECT_NE(test::play(failure->made, failure->lengths, false, fault), "") << failure->text();
  }
}

TEST(CoherenceMixed, EveryAccessSeesTheLatestValue) {
  test::play_random(made_of_all, 100'000, 3 * kOfRequester);
}

}  // namespace
}  // namespace cxloom

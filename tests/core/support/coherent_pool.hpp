// A pool of two coherent memories behind a switch with virtual switches, whose hosts take their steps one at
// a time: what tests of single flows through it share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {

using namespace literals;

struct PoolStep {
  const char* host;
  std::uint64_t address;
  AccessKind kind;
};

inline constexpr Time kSwitch = 5_ns;
inline constexpr Time kPorts = 50_ns;                // of the link of a host
inline constexpr Time kToSwitch = kPorts + kSwitch;  // from h2, and through the switch
inline constexpr Time kFar =
    kPorts + kSwitch + kSwitch;                          // between h0 or h1 and the memory, over two switches
inline constexpr Time kFarSnoop = kFar + kCache + kFar;  // the home asks h0 or h1
inline constexpr Time kFarWriteBack = kFar + kLookup + kMemoryWrite + kFar;
inline constexpr Time kFarMiss = kProcess + kCache + kFar + kLookup + kMemoryRead + kFar;
inline constexpr Time kFarUpgrade = kProcess + kCache + kFar + kLookup + kFarSnoop + kFar;
inline constexpr Time kRefused = kProcess + kCache + kToSwitch + kPorts;  // h2 is answered by the switch
inline constexpr std::uint64_t kSecond = 1U << 20U;                       // where mem1 begins

inline Value::Map vcs(const char* upstream, const Value::List& bound) {
  return {{"upstream", upstream}, {"vppbs", 2}, {"bind", bound}};
}

/// What of a pool a test may say.
struct PoolParts {
  Value::List switches;        ///< its virtual switches; none: all belong together
  Value::Map dcoh = {};        ///< of the agents of both memories
  Value::Map host = {};        ///< of all hosts
  bool second_switch = false;  ///< h2 is behind a switch, too, up2, and the two are joined
};

/// The steps of a host, one each 10 us, and a read of another line behind the last of all: so the window
/// stays open for all hosts.
inline std::vector<Access> steps_of(const std::vector<PoolStep>& steps, const std::string& host,
                                    std::uint64_t last_read) {
  std::vector<Access> accesses;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const bool last = i == steps.size();
    if (!last && steps[i].host != host) continue;
    Access access = last ? access_to(last_read) : access_to(steps[i].address, steps[i].kind);
    access.timed = true;
    access.timestamp = 10_us * static_cast<std::int64_t>(i);
    accesses.push_back(access);
  }
  return accesses;
}

inline SpecBuilder pool(const std::vector<PoolStep>& steps, const PoolParts& parts) {
  SpecBuilder system;
  Value::Map sw{{"switching_time", "5ns"}};
  const Value::Map near{{"port_delay", "0ns"}};
  system.device("up", "switch", sw);
  if (parts.second_switch) system.device("up2", "switch", sw);
  if (!parts.switches.empty()) sw.emplace_back("vcs", parts.switches);
  system.device("sw", "switch", sw).link("up", "sw", near);
  if (parts.second_switch) system.link("up2", "sw", near).link("up", "up2", near);
  for (const char* name : {"mem0", "mem1"}) {
    Value::Map agent{{"lookup_time", "7ns"}};
    agent.insert(agent.end(), parts.dcoh.begin(), parts.dcoh.end());
    system.device(name, "memory",
                  {{"capacity", "1MiB"},
                   {"controller_time", "40ns"},
                   {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
                   {"dcoh", agent}});
    system.link("sw", name, near).region({name}, {{"coherence", "hdm-db"}});
  }
  const char* const of_h2 = parts.second_switch ? "up2" : "sw";
  for (const char* name : {"h0", "h1", "h2"}) {
    const Value::Map cache{{"access_time", "12ns"}, {"ways", 0}, {"size", "4KiB"}};
    Value::Map host{{"process_time", "10ns"}, {"cache", cache}};
    host.insert(host.end(), parts.host.begin(), parts.host.end());
    system.device(name, "host", host);
    system.link(name, std::string(name) == "h2" ? of_h2 : "up", {{"port_delay", "25ns"}});
    const std::uint64_t other = (name[1] == '2' ? kSecond : 0) + 0x8000 + 0x40U * std::uint64_t(name[1]);
    system.replay(name, steps_of(steps, name, other), {{"replay", "timestamps"}});
  }
  return system.outputs({{"requests", true}});
}

/// Two hosts, h0 and h1, share a virtual switch, and h2 has another. Of mem0 and mem1 each keeps its own
/// lines coherent. A step begins every 10 us.
inline SpecBuilder pool(const std::vector<PoolStep>& steps, const Value::List& switches) {
  return pool(steps, PoolParts{switches});
}

inline const Value::List kTwoSwitches{vcs("up", {"mem0"}), vcs("h2", {"mem1"})};

struct Played {
  explicit Played(const SpecBuilder& system, std::size_t steps) : run(system), latency(steps), failed(steps) {
    run.to_end();
    for (std::size_t row = 0; row < run.table().rows(); ++row) {
      const auto step = static_cast<std::size_t>(run.created(row).ps() / (10_us).ps());
      if (step >= steps) continue;
      latency[step] = run.latency(row);
      failed[step] = run.table().error[row] != 0;
    }
  }
  Running run;
  std::vector<Time> latency;
  std::vector<bool> failed;
};

/// Mem0 leaves the virtual switch of h0 and h1, and comes to that of h2.
inline SpecBuilder moved(SpecBuilder system, const char* left, const char* came, bool surprise = false) {
  const Value::Map from{{"switch", "sw"}, {"vcs", 0}, {"vppb", 0}, {"surprise", surprise}};
  const Value::Map to{{"switch", "sw"}, {"vcs", 1}, {"vppb", 1}, {"to", "mem0"}};
  return system.event({{"at", left}, {"unbind", from}}).event({{"at", came}, {"bind", to}});
}

inline constexpr Time kRefusedFar =
    kProcess + kCache + kFar + kSwitch + kPorts;  // h0 is answered by the second switch

}  // namespace cxloom::test

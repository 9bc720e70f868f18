// Small systems whose power fails: few lines that are written and read again and again, behind persist
// buffers of all kinds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/support/persist_systems.hpp"
#include "system/run/simulation.hpp"

namespace cxloom::test {

/// Few lines, written again and again, some of them read. Without fences all are written before the first is
/// answered, and none is older than another.
inline std::vector<Access> busy_lines(std::uint64_t seed, bool fences, int count = 60) {
  std::vector<Access> accesses;
  for (int i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    Access access = flush_of(64 * ((seed >> 33U) % 5));
    if ((seed >> 40U) % 4 == 0) access = access_to(access.address.value());
    if (fences && (seed >> 45U) % 3 == 0) access = behind_fence(access);
    accesses.push_back(access);
  }
  return accesses;
}

/// Media that write slowly.
inline Value::Map slow_to_write(const std::string& write = "700ns") {
  return {{"kind", "fixed"}, {"latency", "100ns"}, {"write_latency", write}};
}

struct CrashShape {
  std::int64_t switches = 1;
  std::vector<std::int64_t> buffered{1};
  int hosts = 1;
  Value::Map buffer;
  std::string kind = "switch";
};

inline SpecBuilder powered(const CrashShape& shape, std::uint64_t seed, int count = 60) {
  PersistChain chain;
  chain.switches = shape.switches;
  chain.kind = shape.kind;
  for (const std::int64_t each : shape.buffered) chain.buffers[each] = shape.buffer;
  chain.media = slow_to_write();
  SpecBuilder system = chain.build();
  for (int i = 1; i < shape.hosts; ++i) {
    const std::string name = "host" + std::to_string(i);
    system.device(name, "host").link(name, "sw1", ports());
    system.replay(name, busy_lines(seed + 100, true, count));
  }
  return system.replay("host", busy_lines(seed, seed % 2 == 0, count));
}

/// All policies, one and two switches, one and two hosts, and so many entries.
inline std::vector<CrashShape> crash_shapes() {
  std::vector<CrashShape> all;
  for (const std::int64_t entries : {1, 2, 4}) {
    for (const std::string policy : {"drain", "forward"}) {
      for (const int hosts : {1, 2}) {
        Value::Map buffer{{"entries", entries}, {"policy", policy}};
        if (policy == "forward") {
          buffer.emplace_back("drain_from", 0.7);
          buffer.emplace_back("drain_to", 0.3);
        }
        all.push_back({1, {1}, hosts, buffer});
        all.push_back({2, {1, 2}, hosts, buffer});
        all.push_back({2, {2}, hosts, buffer});
      }
    }
  }
  return all;
}

/// Looks before each event, and at the end.
inline void at_every_event(Simulation& simulation, const std::function<void()>& look) {
  for (bool over = false; !over;) {
    look();
    over = simulation.advance(Time::max(), 1);
  }
  look();
}

}  // namespace cxloom::test

// Requesters before a device that keeps its own memory coherent, of which something fails: each step of such
// a flow has a closed form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {

inline constexpr int kOwner = -1;
/// Between two steps.
inline constexpr Time kStep{10'000'000};

/// An access of a requester, or of the device that has the lines.
struct KeptStep {
  int device;
  std::uint64_t address;
  AccessKind kind;
  std::uint16_t size = kLineBytes;
};

/// Requesters d0 and d1 before a device that keeps its own memory coherent. KeptStep i is made at i times 10
/// us. Each requester makes another access behind the last step, so that the window stays open.
struct KeptRun {
  KeptRun(const std::string& coherence, const std::vector<KeptStep>& steps,
          const std::vector<Value::Map>& events, bool second_has_cache = true, int flip_after = 0) {
    const Value::Map cache{{"access_time", "12ns"}, {"ways", 0}, {"size", "1KiB"}};
    Value::Map agent{{"lookup_time", "7ns"}, {"answer_timeout", "5us"}};
    Value::Map memory{
        {"capacity", "1MiB"},
        {"controller_time", "40ns"},
        {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}};
    Value::Map home{{"process_time", "10ns"}, {"cache", cache}};
    const bool bias = coherence == "hdm-d";
    if (bias) agent.emplace_back("flip_after", flip_after);
    if (bias) memory.emplace_back("bias", agent);
    if (!bias) home.emplace_back("home_agent", agent);
    home.emplace_back("memory", memory);
    SpecBuilder system;
    system.device("home", bias ? "accelerator" : "host", home).device("bus", "bus", {{"bus_time", "0ns"}});
    system.link("home", "bus", {{"port_delay", "0ns"}});
    add_program(system, "home", kOwner, steps);
    for (int d = 0; d < (bias ? 1 : 2); ++d) {
      const std::string name = "d" + std::to_string(d);
      Value::Map device{{"process_time", "10ns"}, {"completion_timeout", "3us"}};
      if (d == 0 || second_has_cache) device.emplace_back("cache", cache);
      system.device(name, bias ? "host" : "accelerator", device);
      system.link(name, "bus", {{"port_delay", "25ns"}});
      add_program(system, name, d, steps);
    }
    system.region({"home"}, {{"coherence", coherence}}).outputs({{"requests", true}});
    for (const Value::Map& event : events) system.event(event);
    run = std::make_unique<Running>(system);
    run->to_end();
    rows.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row)
      rows.at(static_cast<std::size_t>(run->created(row).ps() / kStep.ps())) = row;
    rows.pop_back();
  }
  static void add_program(SpecBuilder& system, const std::string& name, int who,
                          const std::vector<KeptStep>& steps) {
    std::vector<Access> accesses;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].device != who) continue;
      Access access = access_to(steps[i].address, steps[i].kind);
      access.size = steps[i].size;
      access.timed = true;
      access.timestamp = kStep * static_cast<std::int64_t>(i);
      accesses.push_back(access);
    }
    Access last = access_to(0x10000 + kLineBytes * static_cast<std::uint64_t>(who + 1));
    last.timed = true;
    last.timestamp = kStep * static_cast<std::int64_t>(steps.size());
    accesses.push_back(last);
    system.replay(name, accesses, {{"replay", "timestamps"}});
  }
  Time latency(std::size_t step) const { return run->latency(rows[step]); }
  Time segment(std::size_t step, Segment which) const { return run->segment(rows[step], which); }
  bool failed(std::size_t step) const { return run->table().error[rows[step]] != 0; }
  std::ptrdiff_t errors() const {
    return std::ranges::count_if(rows, [&](std::size_t row) { return run->table().error[row] != 0; });
  }
  double of_home(const char* measure) const { return run->number({"coherence", measure}); }
  double of(const char* device, const char* measure) const {
    return run->number({"per_requester", device, measure});
  }

  std::unique_ptr<Running> run;
  std::vector<std::size_t> rows;
};

}  // namespace cxloom::test

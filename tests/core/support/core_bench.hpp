// Systems with cores, and what their results say of the time of cores.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {

/// A cycle is 250 ps, and four instructions retire in one unless `params` have another width.
inline Value::Map core_with(Value::Map params) {
  params.emplace_back("clock", "4G/s");
  if (std::none_of(params.begin(), params.end(), [](const auto& entry) { return entry.first == "width"; }))
    params.emplace_back("width", 4);
  return params;
}

/// A host with a core and a memory that answers any number at once after exactly 100 ns.
inline SpecBuilder with_core(Value::Map core, Value::Map host = {}) {
  host.emplace_back("process_time", "0ns");
  host.emplace_back("core", core_with(std::move(core)));
  if (std::none_of(host.begin(), host.end(), [](const auto& entry) { return entry.first == "queue"; }))
    host.emplace_back("queue", 1024);
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "1GiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
      .link("host", "mem")
      .region({"mem"});
}

/// Reads of different lines, each `gap` instructions after the one before.
inline std::vector<Access> reads_apart(std::size_t count, std::uint32_t gap) {
  std::vector<Access> accesses;
  for (std::size_t i = 0; i < count; ++i) {
    accesses.push_back(access_to(i * 64));
    accesses.back().instruction_gap = gap;
  }
  return accesses;
}

inline double core(const Running& run, std::string_view key) {
  return run.number({"per_requester", "host", "core", key});
}

inline void expect_parts_to_sum(const Running& run, std::string_view host = "host") {
  const Value summary = run.summary();
  const Value* core = summary.find("per_requester")->find(host)->find("core");
  double sum = 0;
  for (const char* part : {"busy_ns", "chain_ns", "mshr_ns", "idle_ns"}) sum += *core->find(part)->as_real();
  for (const auto& [name, value] : *core->find("memory_ns")->as_map()) sum += *value.as_real();
  if (const Value* walks = core->find("walk_ns")) sum += *walks->as_real();
  EXPECT_NEAR(sum, *core->find("time_ns")->as_real(), 1e-6 * sum + 1e-3);
  if (const Value* const waits = core->find("waits_ns")) {
    double waited = *core->find("busy_ns")->as_real() + *core->find("idle_ns")->as_real();
    for (const auto& [process, value] : *waits->as_map()) waited += *value.as_real();
    EXPECT_NEAR(waited, sum, 1e-6 * sum + 1e-3);
  }
}

}  // namespace cxloom::test

// Systems parts of which fail, and what makes them fail.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {

inline Value::Map fail_link(const std::string& at, const char* a, const char* b,
                            const std::string& reroute_time) {
  return {{"at", at}, {"fail", Value::Map{{"link", Value::List{a, b}}, {"reroute_time", reroute_time}}}};
}

inline Value::Map repair_link(const std::string& at, const char* a, const char* b) {
  return {{"at", at}, {"repair", Value::Map{{"link", Value::List{a, b}}}}};
}

inline Value::Map fail_device(const std::string& at, const char* device, const std::string& reroute_time) {
  return {{"at", at}, {"fail", Value::Map{{"device", device}, {"reroute_time", reroute_time}}}};
}

inline Value::Map repair_device(const std::string& at, const char* device) {
  return {{"at", at}, {"repair", Value::Map{{"device", device}}}};
}

/// A memory that serves an access in 85 ns.
inline SpecBuilder& slow_memory(SpecBuilder& system, const std::string& name = "mem") {
  return system.device(
      name, "memory",
      {{"controller_time", "40ns"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
}

/// host - sw - mem, and a host that makes these accesses one after the other.
inline SpecBuilder host_switch_memory(const std::vector<Access>& accesses, const Value::Map& link,
                                      Value::Map host = {}, Value::Map sw = {}) {
  SpecBuilder system;
  host.emplace_back("queue", 1);
  system.device("host", "host", std::move(host)).device("sw", "switch", std::move(sw));
  slow_memory(system).link("host", "sw", link).link("sw", "mem", link).region({"mem"});
  system.outputs({{"requests", true}});
  return system.replay("host", accesses);
}

/// sw0 and sw1 are joined directly, and by way of sw2; the host is at sw0, the memory at sw1.
inline SpecBuilder triangle(const std::vector<Access>& accesses, const Value::Map& link,
                            const Value::Map& sw) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}});
  for (const char* name : {"sw0", "sw1", "sw2"}) system.device(name, "switch", sw);
  slow_memory(system);
  system.link("host", "sw0", link).link("sw0", "sw1", link).link("sw0", "sw2", link);
  system.link("sw2", "sw1", link).link("sw1", "mem", link).region({"mem"});
  system.outputs({{"requests", true}});
  return system.replay("host", accesses);
}

/// Reads of so many lines, or writes.
inline std::vector<Access> lines(std::size_t count, AccessKind kind = AccessKind::kRead) {
  std::vector<Access> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(access_to(64 * i, kind));
  return all;
}

}  // namespace cxloom::test

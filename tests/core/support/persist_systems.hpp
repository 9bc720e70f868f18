// Systems with persistent memory behind switches, and what a persist takes there by the forms of
// docs/model/persist.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/naive_persist.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {

// The defaults: a link and its ports, a switch, a controller, a host; and the media, to read and to write.
inline constexpr Time kW{50'000};
inline constexpr Time kS{20'000};
inline constexpr Time kC{40'000};
inline constexpr Time kP{10'000};
inline constexpr Time kMediaRead{100'000};
inline constexpr Time kMediaWrite{200'000};
inline constexpr Time kTag{388};
inline constexpr Time kT{388 + 785};

inline Time times(std::int64_t count, Time time) { return Time{count * time.ps()}; }
/// The latency of a request to memory behind n switches.
inline Time unbuffered(std::int64_t n, Time media) {
  return kP + times(2 * (n + 1), kW) + times(2 * n, kS) + kC + media;
}
/// The latency of a persist, or a read that hits, with a buffer in the k-th switch.
inline Time buffered(std::int64_t k) { return kP + times(2 * k, kW + kS) + kT; }
/// From when a buffer begins to drain an entry until that is Empty, with so many links behind it.
inline Time drain_time(std::int64_t links, Time media) { return times(2 * links, kW + kS) + kC + media; }

inline Access flush_of(std::uint64_t address) { return access_to(address, AccessKind::kFlush); }
inline Access behind_fence(Access access) {
  access.dependence = kAllBefore;
  return access;
}
inline Access part_of(Access access, std::uint16_t size) {
  access.size = size;
  return access;
}

/// The ports of a link: W is both of them.
inline Value::Map ports() { return {{"port_delay", "25ns"}}; }

inline Value::Map forwarding(Value::Map more = {}) {
  more.emplace_back("policy", "forward");
  return more;
}

/// A host, switches sw1 to swN in a chain, and a memory. `buffers`: by the number of the switch.
struct PersistChain {
  std::int64_t switches = 1;
  std::map<std::int64_t, Value::Map> buffers;
  Value::Map media{{"kind", "nvm"}, {"write_buffer", 0}};
  std::string persistence = "media";
  std::string kind = "switch";
  Value::Map host;
  Value::Map more_of_switch;

  SpecBuilder with(std::vector<Access> accesses) const {
    SpecBuilder system = build();
    return system.replay("host", std::move(accesses));
  }
  SpecBuilder build() const {
    SpecBuilder system;
    system.device("host", "host", host);
    std::string before = "host";
    for (std::int64_t i = 1; i <= switches; ++i) {
      const std::string name = "sw" + std::to_string(i);
      Value::Map params = more_of_switch;
      if (buffers.contains(i)) params.emplace_back("persist_buffer", buffers.at(i));
      system.device(name, kind, std::move(params)).link(before, name, ports());
      before = name;
    }
    system.device("mem", "memory", {{"media", media}}).link(before, "mem", ports());
    return system.region({"mem"}, {{"persistence", persistence}}).outputs({{"versions", true}});
  }
};

}  // namespace cxloom::test

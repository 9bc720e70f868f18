#include "system/power_loss.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/line_versions.hpp"
#include "device/persist_buffer.hpp"
#include "interconnect/route_table.hpp"
#include "system/system.hpp"

namespace cxloom {

namespace {

using State = PersistEntry::State;

/// A line that recovery writes to memory.
struct Drain {
  LineAddress line;
  std::uint32_t version;
};

struct Buffer {
  const PersistEntries* entries;
  std::uint32_t to_memory;  // links
  std::uint32_t node;
};

std::vector<Buffer> buffers_in_order(const System& system, const RecoveryRules& rules, NodeId lost) {
  std::vector<Buffer> buffers;
  for (const auto& [component, buffer] : system.roles().persist_buffers) {
    if (component->id() == lost) continue;
    std::uint32_t nearest = RouteTable::kUnreachable;
    for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
      for (const NodeId memory : system.address_map().persistent_targets(persistence)) {
        nearest = std::min(nearest, system.routes().distance(component->id().index(), memory.index()));
      }
    }
    buffers.push_back({&buffer->entries(), nearest, component->id().index()});
  }
  std::ranges::sort(buffers, [&](const Buffer& a, const Buffer& b) {
    const bool nearer = std::tie(a.to_memory, a.node) < std::tie(b.to_memory, b.node);
    return rules.from_memory ? nearer : !nearer && a.node != b.node;
  });
  return buffers;
}

void add_drains(const PersistEntries& entries, const RecoveryRules& rules, std::vector<Drain>& drains) {
  const auto add = [&](State state) {
    entries.each([&](const PersistEntry& entry) {
      if (entry.state == state && entry.bytes != 0) drains.push_back({entry.line, entry.version});
    });
  };
  add(rules.oldest_first ? State::kDrain : State::kDirty);
  add(rules.oldest_first ? State::kDirty : State::kDrain);
  if (!rules.skip_empty) add(State::kEmpty);
}

/// Memory after the first drains, and after all of them from the beginning again: with what is left of the entries.
std::vector<LostLine> lost_after(const System& system, const std::vector<Drain>& drains) {
  const LineVersions* const versions = system.versions();
  ensure(versions != nullptr, "power loss in a system without versions of lines");
  std::map<std::uint64_t, std::uint32_t> memory;
  versions->each_line([&](LineAddress line, std::uint32_t version) { memory[line.number()] = version; });
  for (const Drain& drain : drains) memory[drain.line.number()] = drain.version;
  std::vector<LostLine> lost;
  for (const auto& [line, version] : memory) {
    if (versions->too_old(LineAddress{line}, version)) lost.push_back({LineAddress{line}, version});
  }
  return lost;
}

std::vector<LostLine> lost_in(const System& system, const RecoveryRules& rules, NodeId lost) {
  std::vector<Drain> drains;
  for (const Buffer& buffer : buffers_in_order(system, rules, lost))
    add_drains(*buffer.entries, rules, drains);
  return lost_after(system, drains);
}

constexpr NodeId kNoSwitch{0xffffffffU};

}  // namespace

// A cut leaves memory with the first drains, and the entries of the others: what comes out in the end is the same.
std::vector<LostLine> lost_at_power_loss(const System& system, const RecoveryRules& rules) {
  return lost_in(system, rules, kNoSwitch);
}

std::vector<LostLine> lost_with_switch(const System& system, NodeId lost) {
  return lost_in(system, {}, lost);
}

}  // namespace cxloom

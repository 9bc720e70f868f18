#include "system/crash/durable_state.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/line_versions.hpp"
#include "device/switch/persist_buffer.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

using EntryState = PersistEntry::State;

/// Of the entries of a line in a buffer, the place in their order.
unsigned turn_in_line(EntryState state, const RecoveryRules& rules) {
  switch (state) {
    case EntryState::kDrain: return rules.oldest_first ? 0 : 1;
    case EntryState::kDirty: return rules.oldest_first ? 1 : 0;
    default: return 2;
  }
}

}  // namespace

std::vector<std::uint64_t> DurableState::key() const {
  std::vector<std::uint64_t> key;
  key.reserve(4 * entries.size() + 2 * memory.size());
  for (const Entry& each : entries) {
    key.push_back(each.kept.line.number());
    key.push_back(each.kept.bytes);
    key.push_back(std::uint64_t{each.buffer.index()} << 32U | each.kept.version);
    key.push_back(static_cast<std::uint64_t>(each.state));
  }
  for (const auto& [line, version] : memory) {
    key.push_back(line);
    key.push_back(version);
  }
  return key;
}

void DurableState::sort(const RecoveryRules& rules) {
  const auto turn = [&](const Entry& entry) {
    const auto links = static_cast<std::int64_t>(entry.links);
    return std::tuple(rules.from_memory ? links : -links, entry.buffer.index(),
                      turn_in_line(entry.state, rules), entry.kept.line.number(), entry.kept.version);
  };
  std::ranges::sort(entries, {}, turn);
}

DurableState durable_state(const System& system, const RecoveryRules& rules, std::optional<NodeId> lost) {
  const LineVersions* const versions = system.versions();
  ensure(versions != nullptr, "power loss in a system without versions of lines");
  DurableState state;
  for (const auto& [component, buffer] : system.roles().persist_buffers) {
    const NodeId node = component->id();
    if (node == lost) continue;
    buffer->entries().each([&](const PersistEntry& entry) {
      if (entry.bytes == 0 || (entry.state == EntryState::kEmpty && rules.skip_empty)) return;
      // Where it goes the map knows: the drain itself may be an answer on its way back.
      const auto place = system.address_map().find(entry.line.address());
      ensure(place.has_value(), "an entry of a line that no region holds");
      state.entries.push_back(
          {{entry.line, entry.bytes, entry.version, place->home, entry.drain.requester, place->ld},
           entry.state,
           system.routes().distance(node.index(), place->home.index()),
           node});
      state.memory[entry.line.number()] = versions->in_memory(entry.line);
    });
  }
  state.sort(rules);
  return state;
}

LineContents contents_after(const DurableState& state) {
  LineContents contents = state.memory;
  for (const DurableState::Entry& each : state.entries) contents[each.kept.line.number()] = each.kept.version;
  return contents;
}

}  // namespace cxloom

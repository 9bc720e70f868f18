#include "system/crash/durable_state.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/line_versions.hpp"
#include "device/switch/persist_domain.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"
#include "system/routes/route_epochs.hpp"

namespace cxloom {

unsigned RecoveryOrder::turn_in_line(PersistEntry::State state) const {
  switch (state) {
    case PersistEntry::State::kDrain: return 0;
    case PersistEntry::State::kDirty: return 1;
    default: return 2;
  }
}

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

void DurableState::sort(const RecoveryOrder& order) {
  const auto turn = [&](const Entry& entry) {
    return std::tuple(order.turn_of_buffer(entry.links), entry.buffer.index(),
                      order.turn_in_line(entry.state), entry.kept.line.number(), entry.kept.version);
  };
  std::ranges::sort(entries, {}, turn);
}

DurableState durable_state(const System& system, const RecoveryOrder& order, std::optional<NodeId> lost) {
  const LineVersions* const versions = system.versions();
  ensure(versions != nullptr, "power loss in a system without versions of lines");
  ensure(!versions->divided(), "power loss in a divided system");
  DurableState state;
  std::unique_ptr<RouteTable> whole;  // which of two buffers is nearer to memory is the same around failures
  if (system.route_epochs().size() > 1) whole = routes_in(system, system.route_epochs().front());
  const RouteTable& routes = whole ? *whole : system.routes();
  for (const auto& [component, buffer] : system.roles().all<PersistDomain>()) {
    const NodeId node = component->id();
    if (node == lost) continue;
    buffer->entries().each([&](const PersistEntry& entry) {
      if (entry.bytes == 0 || !order.drains(entry.state)) return;
      // Where it goes the map knows: the drain itself may be an answer on its way back.
      const auto place = system.address_map().find(entry.line.address());
      ensure(place.has_value(), "an entry of a line that no region holds");
      state.entries.push_back(
          {{entry.line, entry.bytes, entry.version, place->home, entry.drain.requester, place->ld},
           entry.state,
           routes.distance(node.index(), place->home.index()),
           node});
      state.memory[entry.line.number()] = versions->in_memory(entry.line);
    });
  }
  state.sort(order);
  return state;
}

LineContents contents_after(const DurableState& state) {
  LineContents contents = state.memory;
  for (const DurableState::Entry& each : state.entries) contents[each.kept.line.number()] = each.kept.version;
  return contents;
}

}  // namespace cxloom

#include "system/events/offline_actions.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "component/replica_set.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/address_map.hpp"
#include "system/model/system.hpp"
#include "workload/placement/numa_nodes.hpp"
#include "workload/stream/movable_pages.hpp"

namespace cxloom {

namespace {

/// Some region of the map leads to the memory.
bool leads_to(const AddressMap& map, NodeId memory, const std::string& requester) {
  return std::ranges::any_of(map.parts(), [&](const AddressMap::Part& part) {
    return std::ranges::any_of(part.memories, [&](const MemoryTargetInfo& target) {
      return target.id == memory && (!target.owner || *target.owner == requester);
    });
  });
}

std::uint64_t free_frames(const MovablePages& pages, const std::vector<std::size_t>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, std::size_t node) { return sum + pages.free_frames(node); });
}

}  // namespace

void refuse_offline(const std::vector<EventParams>& events, const std::string& beside) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events[i].offline) continue;
    throw InputError({"a memory that is taken out of use beside " + beside,
                      "'" + events[i].offline->device + "'",
                      "workloads whose addresses are placed",
                      {},
                      InputError::Kind::kBetween},
                     "events[" + std::to_string(i) + "].offline.device");
  }
}

const Component& OfflineActions::memory_of(const OfflineParams& offline) const {
  return with_path("device", [&]() -> std::reference_wrapper<const Component> {
    const Component& device = system_.component(offline.device);
    const MemoryOwner* const memory = system_.roles().of<MemoryOwner>(device.id());
    if (!memory || !memory->may_fail())
      refuse_event("a device that is not taken out of use", "'" + offline.device + "'",
                   "a memory: kind: memory");
    return device;
  });
}

void OfflineActions::expect(std::size_t number, const EventParams& event) {
  with_path("offline", [&] {
    const Component& memory = memory_of(*event.offline);
    with_path("device", [&] {
      check_regions(memory);
      check_devices(memory);
    });
    if (number == 0) first_ = &*event.offline;
  });
}

void OfflineActions::check_regions(const Component& memory) const {
  const AddressMap& map = system_.address_map();
  if (const ReplicaSets* const replicas = system_.system_context().replicas.get()) {
    for (const auto& set : replicas->all()) {
      for (std::size_t copy = 0; copy < set->size(); ++copy) {
        if (set->node(copy) != memory.id()) continue;
        refuse_event("a memory with a copy of a replicated region: no page needs to leave it",
                     "the region '" + set->name() + "'", "a fail of it");
      }
    }
  }
  for (const AddressMap::Part& part : map.parts()) {
    const auto is_it = [&](const MemoryTargetInfo& target) { return target.id == memory.id(); };
    if (std::ranges::none_of(part.memories, is_it)) continue;
    const std::string region = "the region at " + to_text(part.extent.base);
    if (part.memories.size() > 1)
      refuse_event("a memory that shares a region with others by interleave goes with all of it only", region,
                   "a memory whose regions are its own: address_map: [{to: " + memory.name() + "}]");
    if (map.find(part.extent.base)->coherent())
      refuse_event("a memory that is kept coherent: who else has its lines is not asked", region,
                   "regions without coherence");
  }
}

void OfflineActions::check_devices(const Component& memory) const {
  for (const auto& [component, engine] : system_.roles().all<TransferEngine>())
    refuse_event("'" + component->name() + "' copies to and from addresses that do not move", {},
                 "a system without it");
  for (const auto& [component, initiator] : system_.roles().all<IoInitiator>()) {
    if (initiator->target() != memory.name()) continue;
    refuse_event("'" + component->name() + "' sends packets of CXL.io to it", "'" + memory.name() + "'",
                 "a memory that no I/O engine has for its target");
  }
}

void OfflineActions::expect_work(const EventParams& event) {
  const OfflineParams& offline = *event.offline;
  with_path("offline", [&] {
    const Component& memory = system_.component(offline.device);
    for (const auto& [component, requester] : system_.roles().all<Requester>()) {
      if (!requester->has_work()) continue;
      const AddressMap& map = system_.address_map_of(component->id());
      if (!leads_to(map, memory.id(), component->name())) continue;
      MovablePages* const pages = requester->expect_moves();
      if (!pages || requester->external_cache()) {
        with_path("device", [&] {
          refuse_event("the pages of '" + component->name() + "' cannot be moved away: " +
                           (pages ? "its cache is outside" : "they are not placed"),
                       "'" + offline.device + "'",
                       "workload." + component->name() +
                           ".addresses: {kind: ...}, or a memory to which no way leads from there");
        });
      }
      const std::vector<std::size_t> to = targets_of(offline, *pages, map, component->name());
      if (&offline == first_ && !requester->tiering()) check_room(component->name(), offline, *pages, to);
    }
  });
}

std::vector<std::size_t> OfflineActions::targets_of(const OfflineParams& offline, const MovablePages& pages,
                                                    const AddressMap& map,
                                                    const std::string& requester) const {
  const std::vector<std::size_t> from = nodes_of_device(pages, offline.device);
  std::vector<std::size_t> to;
  for (std::size_t i = 0; i < offline.to.size(); ++i) {
    with_path("to[" + std::to_string(i) + "]", [&] {
      const auto found = pages.node_of_memory(offline.to[i]);
      if (!found) {
        refuse_of_other(memory_of_others(map, requester), offline.to[i], pages.node_names(), "");
        throw InputError({"the program of '" + requester + "' has no pages there", "'" + offline.to[i] + "'",
                          list_names(pages.node_names()), nearest_name(offline.to[i], pages.node_names())});
      }
      if (std::ranges::find(from, *found) != from.end())
        refuse_event("the pages are there already", "'" + offline.to[i] + "'",
                     "another memory than `device`");
      to.push_back(*found);
    });
  }
  if (!to.empty()) return to;
  std::ranges::copy_if(pages.nearest_nodes(), std::back_inserter(to),
                       [&](std::size_t node) { return std::ranges::find(from, node) == from.end(); });
  return to;
}

// Before the first event all is as it was placed. What programs touch later, and what other events do, shows
// during the run.
void OfflineActions::check_room(const std::string& requester, const OfflineParams& offline,
                                MovablePages& pages, const std::vector<std::size_t>& to) {
  std::uint64_t leaving = 0;
  for (const std::size_t node : nodes_of_device(pages, offline.device))
    leaving += pages.pages_in(node, std::nullopt).size();
  const std::uint64_t room = free_frames(pages, to);
  if (leaving <= room) return;
  throw InputError({"there is no room for the pages of '" + requester + "' in '" + offline.device + "'",
                    counted(leaving, "page"),
                    "at most " + counted(room, "page") + ", the free frames of " +
                        (offline.to.empty() ? "all other memories" : list_names(offline.to)) +
                        ": a smaller footprint, or larger memories",
                    {},
                    InputError::Kind::kBetween},
                   offline.to.empty() ? "device" : "to");
}

bool OfflineActions::unsettled() const {
  return std::ranges::any_of(removals_, [](const auto& removal) { return removal.second->under_way(); });
}

void OfflineActions::act(std::size_t number, const EventParams& event) {
  const OfflineParams& offline = *event.offline;
  auto& removal = removals_[number] =
      std::make_unique<Removal>(kernel_, system_, system_.component(offline.device).id(), changed_);
  removal->begin(
      [&](const MovablePages& pages) { return targets_of(offline, pages, system_.address_map(), {}); },
      offline.rate ? offline.rate->rate : Rate{});
}

}  // namespace cxloom

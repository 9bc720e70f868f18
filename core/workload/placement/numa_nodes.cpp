#include "workload/placement/numa_nodes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

bool foreign_to(const std::string& device, const std::vector<MemoryTargetInfo>& memories) {
  return std::ranges::any_of(memories, [&](const auto& each) { return each.owner && *each.owner != device; });
}

/// Adjacent addresses are one extent, so that a frame may lie across both.
void add_extent(std::vector<AddressMap::Extent>& extents, const AddressMap::Extent& next) {
  if (!extents.empty() && extents.back().base.value() + extents.back().bytes == next.base.value()) {
    extents.back().bytes += next.bytes;
  } else {
    extents.push_back(next);
  }
}

}  // namespace

std::uint64_t count_of(const Frames& frames) {
  return std::accumulate(frames.begin(), frames.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const FrameRun& run) { return sum + run.count; });
}

NodeMemories memories_of(const std::vector<MemoryTargetInfo>& targets) {
  NodeMemories memories;
  for (const MemoryTargetInfo& target : targets) memories.emplace_back(target.id, target.ld);
  return memories;
}

std::string NumaNode::name() const {
  constexpr std::size_t kMostNames = 4;
  if (memories.size() > kMostNames) return memories.front() + "+...+" + memories.back();
  std::string text;
  for (const std::string& memory : memories) text += (text.empty() ? "" : "+") + memory;
  return text;
}

std::vector<AddressMap::Extent> usable_in(const AddressMap& map, std::size_t part, const Extents& extents) {
  std::vector<AddressMap::Extent> usable{map.parts()[part].extent};
  const std::vector<MemoryTargetInfo>& memories = map.parts()[part].memories;
  for (std::size_t memory = 0; memory < memories.size(); ++memory) {
    const auto given = extents ? extents(memories[memory].id) : std::nullopt;
    if (!given) continue;
    std::vector<AddressMap::Extent> both;
    for (const AddressMap::Extent& one : *given) {
      const AddressMap::Extent there = map.rounds_within(part, memory, one);
      for (const AddressMap::Extent& other : usable) {
        const std::uint64_t base = std::max(there.base.value(), other.base.value());
        const std::uint64_t end =
            std::min(there.base.value() + there.bytes, other.base.value() + other.bytes);
        if (base < end) both.push_back({Address{base}, end - base});
      }
    }
    usable = std::move(both);
  }
  return usable;
}

std::vector<NumaNode> numa_nodes(const AddressMap& map, const std::string& device, Bytes page,
                                 const Distance& distance, const Extents& extents) {
  struct Found {
    const std::vector<MemoryTargetInfo>* memories;
    bool in_extents;
    std::vector<AddressMap::Extent> extents;
  };
  std::vector<Found> found;
  std::map<NodeMemories, std::size_t> places;
  for (std::size_t number = 0; number < map.parts().size(); ++number) {
    const AddressMap::Part& part = map.parts()[number];
    if (foreign_to(device, part.memories)) continue;
    const auto is_given = [&](const MemoryTargetInfo& memory) { return extents && extents(memory.id); };
    const bool in_extents = std::ranges::any_of(part.memories, is_given);
    const auto [place, is_new] = places.try_emplace(memories_of(part.memories), found.size());
    if (is_new) found.push_back({&part.memories, in_extents, {}});
    Found& node = found[place->second];
    if (!in_extents) {
      add_extent(node.extents, part.extent);
      continue;
    }
    // Frames lie where frames of the whole part would.
    for (const AddressMap::Extent& each : usable_in(map, number, extents)) {
      const std::uint64_t origin = part.extent.base.value();
      const std::uint64_t first = (each.base.value() - origin + page.count() - 1) / page.count();
      const std::uint64_t end = (each.base.value() + each.bytes - origin) / page.count();
      if (first < end)
        node.extents.push_back({Address{origin + first * page.count()}, (end - first) * page.count()});
    }
  }
  std::vector<NumaNode> nodes;
  for (const Found& each : found) {
    NumaNode& node = nodes.emplace_back();
    node.targets = *each.memories;
    node.in_extents = each.in_extents;
    for (const MemoryTargetInfo& memory : *each.memories) {
      node.memories.push_back(memory.described());
      node.distance = std::max(node.distance, distance(memory.id));
    }
    for (const AddressMap::Extent& extent : each.extents) {
      if (extent.bytes >= page.count()) node.frames.push_back({extent.base, extent.bytes / page.count()});
    }
  }
  return nodes;
}

std::vector<std::size_t> nearest_first(std::span<const NumaNode> nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t node) { return std::pair(nodes[node].distance, node); });
  return order;
}

std::vector<MemoryOfOther> memory_of_others(const AddressMap& map, const std::string& device) {
  std::vector<MemoryOfOther> others;
  for (const AddressMap::Part& part : map.parts()) {
    for (const MemoryTargetInfo& memory : part.memories) {
      if (memory.owner && *memory.owner != device)
        others.push_back({memory.described(), memory.name, memory.owner});
    }
  }
  for (const AddressMap::Part& part : map.beyond()) {
    for (const MemoryTargetInfo& memory : part.memories)
      others.push_back({memory.described(), memory.name, std::nullopt});
  }
  return others;
}

void refuse_of_other(std::span<const MemoryOfOther> others, const std::string& name,
                     const std::vector<std::string>& known, const std::string& key) {
  const auto found = std::ranges::find_if(
      others, [&](const MemoryOfOther& each) { return name == each.name || name == each.device; });
  if (found == others.end()) return;
  throw InputError(
      {found->owner ? "this memory belongs to another device" : "no way leads to this memory from the device",
       "'" + name + "'" + (found->owner ? " of '" + *found->owner + "'" : std::string()),
       known.empty() ? "none: it may use no memory in the address map" : list_names(known),
       {}},
      key);
}

std::vector<std::size_t> nodes_named(std::span<const NumaNode> nodes, const std::vector<std::string>& names,
                                     std::span<const MemoryOfOther> others) {
  const auto has = [](const NumaNode& node, const std::string& name) {
    return std::ranges::find(node.memories, name) != node.memories.end() ||
           std::ranges::find(node.targets, name, &MemoryTargetInfo::name) != node.targets.end();
  };
  std::vector<std::string> known;
  for (const NumaNode& node : nodes) known.insert(known.end(), node.memories.begin(), node.memories.end());
  const auto key_of = [](std::size_t i) { return "nodes[" + std::to_string(i) + "]"; };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto before = std::ranges::find(names, names[i]);
    if (before != names.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InputError(
          {"a memory that is named twice",
           "'" + names[i] + "', as in " + key_of(static_cast<std::size_t>(before - names.begin())),
           "each once; for more pages in one of several, `weights` of an interleave",
           {}},
          key_of(i));
    }
    if (std::ranges::any_of(nodes, [&](const NumaNode& node) { return has(node, names[i]); })) continue;
    const std::string key = key_of(i);
    refuse_of_other(others, names[i], known, key);
    throw InputError({"no node of this device has such a memory", "'" + names[i] + "'",
                      known.empty() ? "none: it has no memory in the address map" : list_names(known),
                      nearest_name(names[i], known)},
                     key);
  }
  std::vector<std::size_t> places;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const auto named = [&](const std::string& name) { return has(nodes[node], name); };
    if (names.empty() || std::ranges::any_of(names, named)) places.push_back(node);
  }
  return places;
}

std::vector<std::vector<std::size_t>> nodes_of_each(std::span<const NumaNode> nodes,
                                                    const std::vector<std::string>& names) {
  std::vector<std::vector<std::size_t>> each;
  for (const std::string& name : names) each.push_back(nodes_named(nodes, {name}));
  return each;
}

}  // namespace cxloom

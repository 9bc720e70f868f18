// NUMA nodes: memory as an operating system sees it, in frames of pages. A node is what one memory holds of
// the address map, or what memories that are interleaved hold together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/address_map.hpp"

namespace cxloom {

/// Frames of memory that follow each other.
struct FrameRun {
  Address base;
  std::uint64_t count = 0;
};
using Frames = std::vector<FrameRun>;

std::uint64_t count_of(const Frames& frames);

/// What makes a node of regions: their memories, or logical devices of them, in the order of the interleave.
using NodeMemories = std::vector<std::pair<NodeId, std::uint8_t>>;
NodeMemories memories_of(const std::vector<MemoryTargetInfo>& targets);

struct NumaNode {
  std::vector<std::string> memories;  ///< more than one: they are interleaved
  Frames frames;                      ///< whole ones, in the order of the regions
  Time distance;  ///< from the device whose node it is one of, to the farthest of its memories
  std::vector<MemoryTargetInfo> targets = {};  ///< these memories, to look for a way there
  bool in_extents = false;                     ///< its frames come and go, each run by itself

  /// "local", "mem0+mem1", "mld ld 1"; of many: "mem0+...+mem63".
  std::string name() const;
};

/// How far a memory is from a device: the time of a line on its way, unloaded.
using Distance = std::function<Time(NodeId memory)>;
/// What a device may use of a memory that is given in extents, none of which overlap; nothing: it is no such
/// memory.
using Extents = std::function<std::optional<std::vector<AddressMap::Extent>>(NodeId memory)>;

/// The nodes of a device, in the order of the address map: regions with the same memories are one. Memory
/// that belongs to another device is in none.
std::vector<NumaNode> numa_nodes(const AddressMap& map, const std::string& device, Bytes page,
                                 const Distance& distance, const Extents& extents = {});
/// The addresses of a part of the map, by its number, whose bytes lie in extents of all of its memories that
/// have some.
std::vector<AddressMap::Extent> usable_in(const AddressMap& map, std::size_t part, const Extents& extents);

/// The nodes' places, nearest first; of those that are as near, the first.
std::vector<std::size_t> nearest_first(std::span<const NumaNode> nodes);

/// Memory that a device may not use: it belongs to another, or no way leads there.
struct MemoryOfOther {
  std::string name;    ///< "mld ld 1"
  std::string device;  ///< "mld"
  std::optional<std::string> owner;
};
/// What there is of it for `device`, whose address map this is.
std::vector<MemoryOfOther> memory_of_others(const AddressMap& map, const std::string& device);
/// Throws InputError, with that key, for a name of such memory; `known` are the names allowed.
void refuse_of_other(std::span<const MemoryOfOther> others, const std::string& name,
                     const std::vector<std::string>& known, const std::string& key);

/// The places of the nodes that have these memories, in the order of the nodes; all, if none is named. A
/// memory with logical devices names all of them. Throws InputError for a name that is none or there twice,
/// with the reason if it is one of `others`.
std::vector<std::size_t> nodes_named(std::span<const NumaNode> nodes, const std::vector<std::string>& names,
                                     std::span<const MemoryOfOther> others = {});
/// The places of the nodes of each of these names, which are names of nodes.
std::vector<std::vector<std::size_t>> nodes_of_each(std::span<const NumaNode> nodes,
                                                    const std::vector<std::string>& names);

}  // namespace cxloom

#include "system/model/region_targets.hpp"
#include "protocol/address_map.hpp"
#include "system/spec/spec.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/replica_set.hpp"
#include "component/system_context.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/devices.hpp"

namespace cxloom {

namespace {

// What a region needs of its home, for people.
struct HomeNeeded {
  const char* part;     // what a device without it lacks
  const char* allowed;  // by name
  const char* instead;  // of a memory that has none itself
};

HomeNeeded needed_for(Coherence coherence) {
  if (coherence == Coherence::kHdmH)
    return {"home agent", "hosts with a home_agent",
            "a host with memory and a home_agent, or home: such a host"};
  if (coherence == Coherence::kHdmD) return {"bias", "devices whose memory has bias", "memory with bias"};
  return {"coherency agent", "devices of kind dcoh, and memory with a dcoh",
          "memory with a dcoh, or home: a device of kind dcoh"};
}

// The device that keeps a region coherent, if it is one for all of it.
std::optional<NodeId> home_of(const Devices& devices, const Roles& roles, const RegionParams& region,
                              const std::vector<MemoryTargetInfo>& targets) {
  if (region.coherence == Coherence::kNone) return std::nullopt;
  const HomeNeeded needed = needed_for(region.coherence);
  if (region.coherence == Coherence::kHdmD && targets.size() > 1) {
    throw InputError({"pages are biased by one device: hdm-d does not interleave",
                      counted(targets.size(), "target"),
                      "one target",
                      {}},
                     "to");
  }
  const auto home_at = [&](NodeId node) -> const CoherenceHome* {
    const CoherenceHome* const home = roles.of<CoherenceHome>(node);
    return home && home->coherence() == region.coherence ? home : nullptr;
  };
  if (region.home) {
    return with_path("home", [&] {
      const Component& component = devices.component(*region.home);
      const CoherenceHome* const home = home_at(component.id());
      if (!home) {
        throw InputError({std::string("a device without a ") + needed.part,
                          "'" + component.name() + "'",
                          needed.allowed,
                          {}});
      }
      if (!home->serves_others() &&
          std::ranges::any_of(targets, [&](const auto& target) { return target.id != component.id(); })) {
        throw InputError({"the agent of a device with memory keeps that memory coherent alone",
                          "'" + component.name() + "'",
                          region.coherence == Coherence::kHdmD
                              ? "no home: with hdm-d a device keeps its own memory coherent"
                              : "a device of kind dcoh for several memories",
                          {}});
      }
      return std::optional<NodeId>(component.id());
    });
  }
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (home_at(targets[t].id)) continue;
    with_path(indexed("to", t), [&] {
      throw InputError({std::string("memory without a ") + needed.part + " cannot be kept coherent",
                        "'" + targets[t].name + "'",
                        needed.instead,
                        {}});
    });
  }
  return std::nullopt;
}

// All of a memory, or the logical device of it that holds the region.
MemoryTargetInfo target_of(const RegionParams& region, const Component& target, const MemoryOwner& owner) {
  const std::span<const LogicalDeviceExtent> all = owner.logical_devices();
  if (all.empty() && !region.ld) return {target.name(), target.id(), owner.memory_capacity()};
  if (all.empty()) {
    throw InputError({"memory without logical devices, where ld names one of them",
                      "'" + target.name() + "'",
                      "no ld, or a memory with logical_devices",
                      {}});
  }
  const std::string allowed = "ld: 0 to " + std::to_string(all.size() - 1);
  if (!region.ld) {
    throw InputError({"memory with logical devices: a region lies within one of them",
                      "'" + target.name() + "'",
                      allowed,
                      {}});
  }
  if (*region.ld >= all.size()) {
    throw InputError({"'" + target.name() + "' has " + counted(all.size(), "logical device"),
                      "ld: " + std::to_string(*region.ld),
                      allowed,
                      {}});
  }
  const LogicalDeviceExtent& of = all[*region.ld];
  return {target.name(), target.id(), of.capacity, of.base, static_cast<std::uint8_t>(*region.ld),
          of.host,       true};
}

/// What `persistence` of a region asks of its memories.
void check_persistence(const RegionParams& region, const Component& target, const MemoryOwner& owner,
                       bool dynamic) {
  if (region.persistence == Persistence::kVolatile) return;
  if (dynamic) {
    throw InputError({"memory of dynamic capacity comes and goes, and is not persistent",
                      "'" + target.name() + "'",
                      "persistence: volatile, or memory without dynamic_capacity",
                      {}});
  }
  const std::string early = owner.answers_writes_early();
  if (region.persistence != Persistence::kMedia || early.empty()) return;
  throw InputError({"memory that answers writes before its media have them",
                    "'" + target.name() + "' with " + early,
                    "persistence: controller, where such a buffer is flushed when power fails, or memory "
                    "without it",
                    {}});
}

/// The switch to which requests to a replicated region go; none: hosts send the copies.
std::optional<NodeId> replicating_switch(const Devices& devices, const Roles& roles,
                                         const ReplicasParams& replicas) {
  if (replicas.by_hosts()) return std::nullopt;
  return with_path("switch", [&] {
    const Component& named = devices.component(*replicas.by_switch);
    const ReplicatorOwner* const owner = roles.of<ReplicatorOwner>(named.id());
    if (!owner || !named.is_switch() || roles.of<MemoryOwner>(named.id())) {
      throw InputError({"a device that replicates nothing for others",
                        "'" + named.name() + "'",
                        "a switch without memory of its own, or none",
                        {}});
    }
    if (const std::string beside = owner->why_no_replicator(); !beside.empty()) {
      throw InputError({"a switch with " + beside + " that replicates",
                        "'" + named.name() + "'",
                        "a switch without it, or none",
                        {}});
    }
    return std::optional<NodeId>(named.id());
  });
}

/// A memory that has a copy of a region.
MemoryTargetInfo copy_target(const Devices& devices, const Roles& roles, const std::string& name) {
  const Component& memory = devices.component(name);
  const MemoryOwner* const owner = roles.of<MemoryOwner>(memory.id());
  const bool plain = owner && owner->memory_capacity() != Bytes{} && owner->logical_devices().empty() &&
                     !roles.of<DynamicMemory>(memory.id());
  if (plain) return {memory.name(), memory.id(), owner->memory_capacity()};
  throw InputError({"a device that can have no copy of a region",
                    "'" + memory.name() + "'",
                    "a memory without logical devices and without dynamic capacity",
                    {}});
}

/// Each target of an interleaved region has copies of its own.
void add_replicas(const RegionParams& region, const Devices& devices, SystemContext& context) {
  const ReplicasParams& replicas = *region.replicas;
  const AddressMap::Part part = context.map->parts().back();
  const std::size_t targets = region.to.size();
  std::vector<std::vector<NodeId>> nodes;
  std::vector<std::string> names = region.to;
  for (const std::string& target : region.to) copy_target(devices, context.roles, target);
  for (const MemoryTargetInfo& memory : part.memories) nodes.push_back({memory.id});
  for (std::size_t i = 0; i < replicas.on.size(); ++i) {
    with_path(indexed("on", i), [&] {
      const MemoryTargetInfo memory = copy_target(devices, context.roles, replicas.on[i]);
      context.map->add_replica(memory, i % targets);
      nodes[i % targets].push_back(memory.id);
      names[i % targets] += "+" + memory.name;
    });
  }
  if (!context.replicas) context.replicas = std::make_unique<ReplicaSets>();
  for (std::size_t i = 0; i < targets; ++i) {
    std::string name = names[i];
    if (context.replicas->named(name)) name += " at " + to_text(part.extent.base);
    context.replicas->add(std::make_unique<ReplicaSet>(name, *context.map, part.extent, targets > 1, replicas,
                                                       std::move(nodes[i])));
  }
}

}  // namespace

void add_regions(const std::vector<RegionParams>& regions, const Devices& devices, SystemContext& context) {
  for (std::size_t i = 0; i < regions.size(); ++i) {
    with_path(indexed("address_map", i), [&] {
      const RegionParams& region = regions[i];
      std::vector<MemoryTargetInfo> targets;
      for (std::size_t t = 0; t < region.to.size(); ++t) {
        with_path(indexed("to", t), [&] {
          const Component& target = devices.component(region.to[t]);
          const MemoryOwner* owner = context.roles.of<MemoryOwner>(target.id());
          if (!owner || owner->memory_capacity() == Bytes{}) {
            throw InputError({"a device without memory",
                              "'" + target.name() + "'",
                              "memories, and hosts and accelerators with memory",
                              {}});
          }
          check_persistence(region, target, *owner, context.roles.of<DynamicMemory>(target.id()) != nullptr);
          targets.push_back(target_of(region, target, *owner));
        });
      }
      std::optional<NodeId> receiver = home_of(devices, context.roles, region, targets);
      if (region.replicas) {
        receiver = with_path("replicas",
                             [&] { return replicating_switch(devices, context.roles, *region.replicas); });
      }
      context.map->add_region(region, targets, receiver);
      if (region.replicas) with_path("replicas", [&] { add_replicas(region, devices, context); });
    });
  }
}

}  // namespace cxloom

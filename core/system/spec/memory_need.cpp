#include "system/spec/memory_need.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "interconnect/link/link.hpp"
#include "interconnect/routing/routing.hpp"
#include "protocol/opcode.hpp"
#include "protocol/region_params.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

namespace {

/// Accesses that each device makes at most; a trace of unknown length is as long as can be.
std::map<std::string, std::uint64_t> accesses_of(const Spec& spec) {
  std::map<std::string, std::uint64_t> accesses;
  for (const Spec::Workload& work : spec.workloads) {
    const std::uint64_t requests = work.params.requests.value_or(~std::uint64_t{0} / 2);
    accesses[work.device] = requests + std::min(spec.run.warmup, ~std::uint64_t{0} / 2);
  }
  return accesses;
}

/// The classes that messages may be of: without coherent memory those of CXL.mem that ask for data and
/// answer, and CXL.io. A plug-in may send any.
std::vector<Channel> classes_of(const Registry& registry, const Spec& spec) {
  if (registry.plugins.empty() && std::ranges::all_of(spec.regions, [](const RegionParams& region) {
        return region.coherence == Coherence::kNone;
      }))
    return {Channel::kM2SReq, Channel::kM2SRwD, Channel::kS2MNDR, Channel::kS2MDRS, Channel::kIo};
  std::vector<Channel> all;
  for (std::size_t i = 0; i < kChannelCount; ++i) all.push_back(static_cast<Channel>(i));
  return all;
}

}  // namespace

MemoryEstimate estimate_memory(const Registry& registry, const Spec& spec) {
  MemoryEstimate memory(&registry.media);
  const auto accesses = accesses_of(spec);
  // Devices in a row that are written alike are looked at once: there may be very many.
  const Spec::Device* last = nullptr;
  std::uint64_t each = 0;
  bool last_queues = false;
  std::unordered_set<std::string> arbitrating;  // devices with queues at their ports
  for (const Spec::Device& device : spec.devices) {
    const auto& entry = registry.devices.at(device.kinded.kind);
    if (!entry.estimate) continue;
    const auto work = accesses.find(device.name);
    const std::uint64_t most = work == accesses.end() ? 0 : work->second;
    if (last && most == memory.accesses() && device.kinded.kind == last->kinded.kind &&
        device.kinded.params == last->kinded.params) {
      memory.add_like_the_last(each);
      if (last_queues) arbitrating.insert(device.name);
      continue;
    }
    const std::uint64_t before = memory.bytes();
    memory.set_accesses(most);
    memory.add_below("devices." + device.name,
                     [&](MemoryEstimate& inside) { entry.estimate(device.kinded.params, inside); });
    last_queues = memory.take_queues_at_ports();
    if (last_queues) arbitrating.insert(device.name);
    last = &device;
    each = memory.bytes() - before;
  }
  const std::vector<Channel> classes = classes_of(registry, spec);
  std::uint64_t links = 0;
  std::uint64_t count = 0;
  for (const Spec::Link& link : spec.links) {
    const auto queues = static_cast<unsigned>(arbitrating.count(link.a) + arbitrating.count(link.b));
    links += link.params->count * link_bytes(*link.params, queues, classes);
    count += link.params->count;
  }
  memory.add("links", counted(count, "link"), 1, links);
  return memory;
}

MemoryEstimate estimate_routes(const Topology& topology, RouteMetric metric,
                               std::span<const GivenRoute> given) {
  MemoryEstimate memory;
  memory.add("links", "routes in a system of " + counted(topology.size(), "device"), 1,
             RouteTable::bytes(topology, metric, given));
  return memory;
}

// To ask the machine takes longer than to build a small system, of which sweeps have many.
void check_memory(const MemoryEstimate& estimate) {
  constexpr std::uint64_t kNeverMissed = 1U << 20U;
  if (estimate.bytes() <= kNeverMissed) return;
  const std::uint64_t available = available_memory();
  if (estimate.bytes() <= available) return;
  const MemoryEstimate::Part& largest = estimate.largest();
  throw InputError({"more than the memory of this machine",
                    largest.value + ", which takes about " + memory_text(largest.bytes) + " of " +
                        memory_text(estimate.bytes()) + " in all",
                    memory_text(available) + " in all",
                    {}},
                   largest.key);
}

}  // namespace cxloom

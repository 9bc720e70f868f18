#include "system/run/kept_versions.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/error.hpp"
#include "component/line_versions.hpp"
#include "component/replica_set.hpp"
#include "component/shared_lines.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"
#include "system/work/share_groups.hpp"

namespace cxloom {

namespace {

void keep_of_persistent(System& system, const std::vector<const Kernel*>& parts) {
  for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
    if (!system.address_map().persistent_targets(persistence).empty())
      system.system_context().versions = std::make_unique<LineVersions>(parts);
  }
  if (const ReplicaSets* const replicas = system.system_context().replicas.get()) {
    for (const auto& set : replicas->all()) set->keep_versions();
    return;
  }
  if (system.system_context().versions) return;
  throw InputError({"versions of lines without persistent or replicated memory",
                    {},
                    "a region with persistence: media or controller, or with replicas",
                    {}},
                   "outputs.versions");
}

// The copies of a store would be taken for stores of their own.
void check_not_replicated(const Spec& spec) {
  for (std::size_t i = 0; i < spec.regions.size(); ++i) {
    if (!spec.regions[i].replicas) continue;
    throw InputError({"a replicated region beside stores that are followed from host to host",
                      {},
                      "no outputs.sharing, and no protocol of sharing",
                      {},
                      InputError::Kind::kBetween},
                     indexed("address_map", i) + ".replicas");
  }
}

void check_shared(const AddressMap& map) {
  const auto followed = [&](const AddressMap::Part& part) {
    const auto place = map.find(part.extent.base);
    return !place->coherent() && !place->persistent;
  };
  if (std::ranges::none_of(map.parts(), followed)) {
    throw InputError({"stores that others may miss, where all memory is kept coherent or persistent",
                      {},
                      "a volatile region without coherence",
                      {}},
                     "outputs.sharing");
  }
}

}  // namespace

void keep_versions(System& system, const Spec& spec, const std::vector<const Kernel*>& parts) {
  if (spec.outputs.versions) keep_of_persistent(system, parts);
  if (spec.outputs.sharing) check_shared(system.address_map());
  if (!spec.outputs.sharing && std::ranges::none_of(spec.workloads, shares)) return;
  check_not_replicated(spec);
  system.system_context().shared = std::make_unique<SharedLines>(system.address_map());
}

}  // namespace cxloom

#include "system/build/replication.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "component/replica_set.hpp"
#include "component/system_context.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/routing/routing.hpp"
#include "protocol/address_map.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

[[noreturn]] void refuse_beside(const std::string& what, const std::string& found,
                                const std::string& allowed) {
  throw InputError({what, found, allowed, {}, InputError::Kind::kBetween}, "replicas");
}

// A device that reaches memory by another way than requests would write to one copy alone.
void check_beside(const System& system) {
  for (const auto& [component, engine] : system.roles().all<TransferEngine>())
    refuse_beside("a replicated region beside a device that copies blocks", "'" + component->name() + "'",
                  "a system without it");
  for (const auto& [component, initiator] : system.roles().all<IoInitiator>())
    refuse_beside("a replicated region beside CXL.io", "'" + component->name() + "'", "a system without it");
  for (const System::LinkView& link : system.links()) {
    if (link.params->outage.at && link.params->outage.fail)
      refuse_beside("a replicated region beside an outage that fails requests", "link '" + link.name + "'",
                    "events: [{at: ..., fail: {link: [a, b]}}]");
  }
}

void check_switch(const System& system, const Spec& spec) {
  if (system.router().keeps_order() && !system.router().detours()) return;
  throw InputError({"a switch that replicates beside routing that sends messages on detours, or changes "
                    "their order",
                    "routing: " + spec.run.routing.kind,
                    "routing without detours that keeps the order, or no switch",
                    {}},
                   "replicas.switch");
}

// All copies must be reached by who writes them.
void check_reach(const System& system, const Component& from, const ReplicaSet& set) {
  for (std::size_t copy = 0; copy < set.size(); ++copy) {
    if (system.routes().reaches(from.id().index(), set.node(copy).index())) continue;
    refuse_beside("'" + from.name() + "' reaches one copy of a region, and not another",
                  "'" + system.components()[set.node(copy).index()]->name() + "'", "ways to all copies");
  }
}

/// `entries`: of those who send its copies, more of them.
void begin_set(System& system, ReplicaSets& sets, ReplicaSet& set, std::uint32_t entries) {
  const Component* first = nullptr;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!system.address_map_of(component->id()).region_of(set.extent().base)) continue;
    if (!first) first = component;
    ReplicatorOwner& owner = *system.roles().of<ReplicatorOwner>(component->id());
    if (!set.params().by_hosts()) continue;
    if (const std::string beside = owner.why_no_replicator(); !beside.empty())
      refuse_beside("'" + component->name() + "' with " + beside + " writes to a replicated region", {},
                    "a requester without it");
    check_reach(system, *component, set);
    set.give(component->id(), owner.begin_replicating(sets, set.answers_early() ? entries : 0));
  }
  if (first) set.set_requester(first->id());
  if (set.params().by_hosts()) return;
  const Component& by = system.component(*set.params().by_switch);
  check_reach(system, by, set);
  ReplicatorOwner& owner = *system.roles().of<ReplicatorOwner>(by.id());
  set.give(by.id(), owner.begin_replicating(sets, entries));
}

// The copies would have to be made of the result.
void check_atomics(const System& system, const Spec& spec) {
  for (const Spec::Workload& workload : spec.workloads) {
    const Value* const share = workload.pattern.find("atomics");
    const Requester* const requester = system.roles().of<Requester>(system.devices().find(workload.device));
    if (!share || !requester || requester->traits().stores_in_cache) continue;
    throw InputError({"atomic operations by a memory that may be replicated",
                      {},
                      "a cache with atomics: cache, or no atomics",
                      {},
                      InputError::Kind::kBetween},
                     "workload." + workload.device + ".atomics");
  }
}

}  // namespace

void begin_replication(System& system, const Spec& spec) {
  ReplicaSets* const sets = system.system_context().replicas.get();
  if (!sets) return;
  check_atomics(system, spec);
  std::size_t next = 0;
  for (std::size_t i = 0; i < spec.regions.size(); ++i) {
    if (!spec.regions[i].replicas) continue;
    with_path(indexed("address_map", i), [&] {
      check_beside(system);
      if (!spec.regions[i].replicas->by_hosts()) check_switch(system, spec);
      // What a region may have under way is for all its targets together.
      for (std::size_t target = 0; target < spec.regions[i].to.size(); ++target)
        begin_set(system, *sets, *sets->all()[next++], target == 0 ? spec.regions[i].replicas->entries : 0);
    });
  }
  sets->at_work = [&roles = system.roles()] {
    return std::ranges::any_of(roles.all<Requester>(), [](const auto& each) {
      return each.role->has_work() && !each.role->finished();
    });
  };
}

}  // namespace cxloom

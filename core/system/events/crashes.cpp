#include "system/events/crashes.hpp"

#include <algorithm>

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/replica_set.hpp"
#include "device/requester/requester.hpp"
#include "kernel/event_source.hpp"
#include "kernel/kernel.hpp"
#include "system/events/actions.hpp"
#include "system/model/system.hpp"
#include "system/routes/link_failures.hpp"

namespace cxloom {

Requester* Crashes::requester_of(const FailingPart& part) const {
  if (part.device == FailingPart::kNone) return nullptr;
  return system_.roles().of<Requester>(system_.components()[part.device]->id());
}

Requester& Crashes::requester_at(NodeId node) const { return *system_.roles().of<Requester>(node); }

void Crashes::expect(std::size_t event, const FailingPart& part) {
  crashes_.push_back({.event = event, .node = system_.components()[part.device]->id()});
}

void Crashes::expect_boot(std::size_t number, const EventParams& event, const FailingPart& part) {
  if (!requester_of(part)) {
    if (!event.repair->restart) return;
    with_path("restart", [&] {
      refuse_event("nothing goes on with work but a host or an accelerator that has crashed",
                   event.repair->described(), "no restart");
    });
  }
  if (system_.system_context().replicas)
    refuse_event("a host boots again beside replicated regions", event.repair->described(),
                 "no repair of it, or no replication");
  const NodeId node = system_.components()[part.device]->id();
  const auto crash = std::ranges::find(crashes_.rbegin(), crashes_.rend(), node, &Crash::node);
  boots_[number] = crash->event;
  if (event.repair->restart) crash->restarts = event.at;
}

void Crashes::expect_work(const EventParams& event) const {
  if (!event.repair->restart || event.at == kPutOff) return;
  if (requester_at(system_.component(*event.repair->device).id()).has_work()) return;
  with_path("restart", [&] {
    refuse_event("restart has no effect: it has no work", "'" + *event.repair->device + "'",
                 "a workload of it, or no restart");
  });
}

void Crashes::crash(std::size_t event) {
  Crash& crash = *std::ranges::find(crashes_, event, &Crash::event);
  Requester& requester = requester_at(crash.node);
  if (ReplicaSets* const replicas = system_.system_context().replicas.get())
    replicas->has_crashed(crash.node);
  if (crash.restarts) {
    requester.pause();
    kernel_.schedule(*crash.restarts, source_, *this, 0, 0);
  } else {
    const Requester::Progress before = requester.progress();
    crash.never_made.reset();
    if (before.expected) crash.never_made = *before.expected - before.issued;
    const auto at_work = [&](const auto& each) {
      return each.role != &requester && each.role->has_work() && !each.role->out_of_work();
    };
    requester.crash(!std::ranges::any_of(system_.roles().all<Requester>(), at_work));
  }
  if (CacheAgent* const cache = requester.losing_cache()) lost(cache->crashed(), crash.node);
}

void Crashes::boot(const FailingPart& part) const {
  if (Requester* const requester = requester_of(part)) requester->boot();
}

const Crashes::Crash* Crashes::find(std::size_t event) const {
  const auto found = std::ranges::find(crashes_, event, &Crash::event);
  return found == crashes_.end() ? nullptr : &*found;
}

void Crashes::lost(const std::vector<LineAddress>& lines, NodeId node) const {
  for (const LineAddress line : lines) {
    const auto place = system_.address_map().find(line.address());
    if (place->coherent()) system_.roles().of<CoherenceHome>(place->home)->data_lost(line, node);
  }
}

}  // namespace cxloom

#include "system/events/failure_actions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "component/replica_set.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory_owner.hpp"
#include "system/deadlock/virtual_channel_plan.hpp"
#include "system/events/actions.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"
#include "system/routes/route_epochs.hpp"

namespace cxloom {

namespace {

/// A repair of `all` repairs `part`, too.
bool covers(const FailingPart& all, const FailingPart& part) {
  const auto repaired = [&](std::size_t link) {
    return std::ranges::find(all.links, link) != all.links.end();
  };
  return all.device == part.device && std::ranges::all_of(part.links, repaired);
}

/// Whether it makes requests, and loses with them all that it has for others.
bool may_crash(const System& system, const Component& device) {
  const Roles& roles = system.roles();
  const NodeId node = device.id();
  Requester* const requester = roles.of<Requester>(node);
  const MemoryOwner* const memory = roles.of<MemoryOwner>(node);
  const CoherenceHome* const home = roles.of<CoherenceHome>(node);
  const bool serves = memory ? !memory->may_crash() : home && !home->may_crash();
  return requester && !requester->external_cache() && !serves && !roles.of<TransferEngine>(node) &&
         !roles.of<IoInitiator>(node) && device.reroutes();
}

std::vector<std::pair<std::size_t, std::size_t>> ends_of_links(const System& system) {
  std::vector<std::pair<std::size_t, std::size_t>> ends;
  for (const System::LinkView& link : system.links())
    ends.emplace_back(link.forward->owner().id().index(), link.backward->owner().id().index());
  return ends;
}

}  // namespace

void check_no_timeouts(const System& system) {
  for (const auto& [component, home] : system.roles().all<CoherenceHome>()) {
    if (!home->sets_answer_timeout()) continue;
    throw InputError({"answer_timeout has no effect: nothing fails in this system",
                      {},
                      "events: [{at: ..., fail: {...}}], or no answer_timeout",
                      {},
                      InputError::Kind::kNoEffect},
                     "devices." + component->name());
  }
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!requester->traits().sets_completion_timeout) continue;
    throw InputError({"completion_timeout has no effect: nothing fails in this system",
                      {},
                      "events: [{at: ..., fail: {...}}], or no completion_timeout",
                      {},
                      InputError::Kind::kNoEffect},
                     "devices." + component->name() + ".completion_timeout");
  }
}

void check_answer_timeouts(const System& system) {
  for (const auto& [component, home] : system.roles().all<CoherenceHome>()) {
    const std::vector<NodeId> homes = system.address_map().homes(home->coherence());
    if (!home->sets_answer_timeout() || std::ranges::find(homes, component->id()) != homes.end()) continue;
    const std::string coherence = home->coherence() == Coherence::kHdmH   ? "hdm-h"
                                  : home->coherence() == Coherence::kHdmD ? "hdm-d"
                                                                          : "hdm-db";
    throw InputError({"answer_timeout has no effect: no region of " + coherence + " has this home",
                      {},
                      "address_map: [{to: ..., coherence: " + coherence + "}], or no answer_timeout",
                      {},
                      InputError::Kind::kNoEffect},
                     "devices." + component->name());
  }
}

void refuse_crashes(const std::vector<EventParams>& events, const System& system, const std::string& device,
                    const std::string& beside) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events[i].fail || !events[i].fail->device || events[i].at == kPutOff) continue;
    const std::string& crashing = *events[i].fail->device;
    if (!system.roles().of<Requester>(system.component(crashing).id())) continue;
    if (!device.empty() && crashing != device) continue;
    throw InputError({"a host that crashes beside " + beside,
                      "'" + crashing + "'",
                      "links or switches that fail",
                      {},
                      InputError::Kind::kBetween},
                     "events[" + std::to_string(i) + "].fail.device");
  }
}

FailureActions::FailureActions(Kernel& kernel, EventSource& source, System& system, std::size_t events,
                               std::function<void()> rerouted)
    : kernel_(kernel),
      source_(source),
      system_(system),
      failures_(ends_of_links(system), system.components().size()),
      crashes_(kernel, source, system),
      parts_(events),
      rerouted_(std::move(rerouted)) {}

void FailureActions::expect(std::size_t number, const EventParams& event) {
  const bool fails = event.fail.has_value();
  const FailedPart& part = fails ? static_cast<const FailedPart&>(*event.fail) : *event.repair;
  with_path(fails ? "fail" : "repair", [&] {
    const FailingPart& found = parts_[number] = find_part(part);
    const bool failed = std::ranges::find(failed_, found) != failed_.end();
    if (fails) {
      check_links(found);
      if (failed) refuse_event("it has failed already", part.described(), "a repair before it fails again");
      failed_.push_back(found);
      if (crashes_.requester_of(found)) crashes_.expect(number, found);
      if (MemoryOwner* const memory = failing_memory(found)) memory->expect_failures();
      if (const ReplicaSets* const replicas = system_.system_context().replicas.get())
        replicas->expect_failures();
    } else {
      if (!failed)
        refuse_event("it has not failed", part.described(),
                     "what an event before this one makes fail: the same link, links or device");
      crashes_.expect_boot(number, event, found);
      std::erase_if(failed_, [&](const FailingPart& part_of_it) { return covers(found, part_of_it); });
      if (event.repair->cleared) with_path("cleared", [&] { check_cleared(found); });
    }
  });
}

void FailureActions::foretell(const std::vector<EventParams>& events) {
  std::vector<RouteEpoch> epochs = route_epochs(events, parts_, failures_, crashes_.boots());
  plan_virtual_channels(system_, epochs);
  system_.expect(std::move(epochs));
  const std::vector<std::vector<Time>> down = failure_times(events, parts_, failures_);
  for (std::size_t link = 0; link < down.size(); ++link) {
    if (down[link].empty()) continue;
    for (LinkEnd* end : {system_.links()[link].forward, system_.links()[link].backward})
      end->expect_failures(down[link]);
  }
}

FailingPart FailureActions::find_part(const FailedPart& part) const {
  FailingPart found;
  const auto& links = system_.links();
  if (part.device) {
    const Component* const device = with_path("device", [&] {
      const Component& named = system_.component(*part.device);
      const MemoryOwner* const memory = system_.roles().of<MemoryOwner>(named.id());
      const bool fails = memory && memory->may_fail();
      if ((!named.is_switch() || !named.reroutes()) && !fails && !may_crash(system_, named))
        refuse_event(
            "a device that cannot fail", "'" + *part.device + "'",
            "a switch, a memory, or a host or an accelerator without a cache outside; of another device its "
            "links: link: [a, b]");
      return &named;
    });
    found.device = device->id().index();
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (&links[i].forward->owner() == device || &links[i].backward->owner() == device)
        found.links.push_back(i);
    }
    return found;
  }
  with_path("link", [&] {
    std::array<const Component*, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i)
      ends[i] = with_path("[" + std::to_string(i) + "]", [&] { return &system_.component(part.link[i]); });
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Component* const a = &links[i].forward->owner();
      const Component* const b = &links[i].backward->owner();
      if ((a == ends[0] && b == ends[1]) || (a == ends[1] && b == ends[0])) found.links.push_back(i);
    }
    if (found.links.empty())
      refuse_event("no link joins these devices", part.link[0] + " and " + part.link[1],
                   "two devices with a link");
  });
  if (!part.number) return found;
  with_path("number", [&] {
    if (links[found.links.front()].params->bundle)
      refuse_event("a link of bundled ports that fails alone", std::to_string(*part.number),
                   "no number: all of them fail; what the others do then is not published");
    if (*part.number > found.links.size())
      refuse_event("there is no such link", std::to_string(*part.number),
                   "at most " + std::to_string(found.links.size()));
  });
  found.links = {found.links[*part.number - 1]};
  return found;
}

// What is beside a failure must be able to live with it.
void FailureActions::check_links(const FailingPart& part) const {
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    if (!system_.address_map().has_coherent() || !requester->external_cache()) continue;
    refuse_event("nothing fails beside '" + component->name() + "', whose cache is outside and coherent", {},
                 "regions without coherence, or a cache of the simulation");
  }
  for (const auto& [component, initiator] : system_.roles().all<IoInitiator>()) {
    if (initiator->losses()) continue;
    refuse_event("nothing fails beside '" + component->name() + "', which cannot lose packets of CXL.io", {},
                 "a system without it, or an initiator that has IoInitiator::losses()");
  }
  for (const auto& [component, engine] : system_.roles().all<TransferEngine>()) {
    refuse_event("nothing fails beside '" + component->name() + "', which cannot lose a part of a copy", {},
                 "a system without it");
  }
  for (const std::size_t index : part.links) {
    const System::LinkView& link = system_.links()[index];
    if (link.params->outage.at) {
      refuse_event("a link that events make fail has no outage of its own", link.name,
                   "no outage of the link: fail and repair say when it is down");
    }
    for (const LinkEnd* end : {link.forward, link.backward}) {
      if (end->owner().reroutes()) continue;
      refuse_event("'" + end->owner().name() + "' finds no other way when a link of it fails", link.name,
                   "links of switches, buses, hosts, accelerators and memories");
    }
  }
}

void FailureActions::expect_work(const EventParams& event) {
  if (event.repair) with_path("repair", [&] { crashes_.expect_work(event); });
}

void FailureActions::act(std::size_t number, const EventParams& event) {
  if (event.fail) {
    fail(number, event.fail->reroute_time);
  } else {
    repair(number, event.repair->cleared);
  }
}

void FailureActions::fail(std::size_t number, Time reroute_time) {
  const FailingPart& part = parts_[number];
  anything_failed_ = true;
  memory_failed_ |= failing_memory(part) != nullptr;
  if (crashes_.find(number)) crashes_.crash(number);
  if (part.device != FailingPart::kNone) system_.components()[part.device]->routes_changed(true);
  for (const std::size_t index : failures_.fail(part, number)) {
    system_.links()[index].forward->interrupt();
    system_.links()[index].backward->interrupt();
  }
  if (part.device != FailingPart::kNone) quiet_at_ = std::max(quiet_at_, last_arrival(part));
  if (!crashes_.find(number))
    each_end_at(part, [](LinkEnd& end) { end.close(); });  // what waits there is lost
  if (part.device != FailingPart::kNone) forget_lines_of(system_.components()[part.device]->id());
  if (failing_memory(part)) {
    const NodeId node = system_.components()[part.device]->id();
    if (ReplicaSets* const replicas = system_.system_context().replicas.get()) replicas->memory_fails(node);
  }
  kernel_.schedule(kernel_.now() + reroute_time, source_, *this, 0, number);
}

// Null: it is something else.
MemoryOwner* FailureActions::failing_memory(const FailingPart& part) const {
  if (part.device == FailingPart::kNone) return nullptr;
  MemoryOwner* const memory = system_.roles().of<MemoryOwner>(system_.components()[part.device]->id());
  return memory && (memory->may_fail() || memory->may_crash()) ? memory : nullptr;
}

void FailureActions::check_cleared(const FailingPart& part) const {
  if (!failing_memory(part))
    refuse_event("nothing is cleared but memory", {}, "the repair of a memory, or no cleared");
  const NodeId node = system_.components()[part.device]->id();
  const std::vector<NodeId> not_persistent = system_.address_map().persistent_targets(Persistence::kVolatile);
  if (std::ranges::find(not_persistent, node) == not_persistent.end())
    refuse_event("all of its memory is persistent, and is not cleared", {}, "no cleared");
}

// The caches and their home come to know of the failure by their link: neither has what it had.
void FailureActions::forget_lines_of(NodeId home) const {
  const CoherenceHome* const agent = system_.roles().of<CoherenceHome>(home);
  if (!agent) return;
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    if (CacheAgent* const cache = requester->losing_cache())
      cache->presumed_dead(home, agent->answers_sent(component->id()));
  }
}

// The ends of its links at a device that fails, or is repaired.
void FailureActions::each_end_at(const FailingPart& part, const std::function<void(LinkEnd&)>& action) const {
  for (const std::size_t index : part.links) {
    const System::LinkView& link = system_.links()[index];
    for (LinkEnd* end : {link.forward, link.backward}) {
      if (end->owner().id().index() == part.device) action(*end);
    }
  }
}

// The failure becomes known: only links that have not been repaired meanwhile matter.
void FailureActions::wake(std::uint8_t /*kind*/, std::uint64_t number) { become_known(number); }

void FailureActions::become_known(std::size_t number) {
  const std::vector<std::size_t> found = failures_.discover(parts_[number], number);
  if (found.empty()) return;
  compute_routes();
  for (const std::size_t link : found) {
    system_.links()[link].forward->close();
    system_.links()[link].backward->close();
  }
}

void FailureActions::repair(std::size_t number, bool cleared) {
  if (cleared) {
    failing_memory(parts_[number])->contents_cleared();
    const NodeId node = system_.components()[parts_[number].device]->id();
    if (CoherenceHome* const home = system_.roles().of<CoherenceHome>(node)) home->contents_cleared();
  }
  if (parts_[number].device != FailingPart::kNone)  // another one in its place is put to use
    system_.set_offline(system_.components()[parts_[number].device]->id(), false);
  // What waits for links that are trained anew is lost with them.
  if (const auto boot = crashes_.boots().find(number); boot != crashes_.boots().end())
    become_known(boot->second);
  const std::vector<std::size_t> repaired = failures_.repair(parts_[number]);
  wait_for_discovery(parts_[number]);
  compute_routes();
  for (const std::size_t link : repaired) {
    system_.links()[link].forward->reopen();
    system_.links()[link].backward->reopen();
  }
  for (const std::size_t link : repaired) {
    for (const LinkEnd* end : {system_.links()[link].forward, system_.links()[link].backward})
      system_.components()[end->owner().id().index()]->link_repaired();
  }
  crashes_.boot(parts_[number]);
}

// A switch that fails closes its ends at once. Where a link stays down that its neighbours still send over,
// so does the repaired switch: what is closed must not be on a route.
void FailureActions::wait_for_discovery(const FailingPart& repaired) {
  FailingPart undiscovered{{}, repaired.device};
  for (const std::size_t link : repaired.links) {
    if (failures_.undiscovered(link)) undiscovered.links.push_back(link);
  }
  each_end_at(undiscovered, [](LinkEnd& end) {
    end.reopen();
    end.interrupt();
  });
}

void FailureActions::compute_routes() {
  system_.route_around(failures_.avoided());
  for (const auto& component : system_.components())
    component->routes_changed(failures_.device_failed(component->id().index()));
  cut_caches_off();
  cut_off_.reset();
  if (ReplicaSets* const replicas = system_.system_context().replicas.get()) {
    replicas->update(
        [this](NodeId from, NodeId to) {
          return system_.routes().distance(from.index(), to.index()) != RouteTable::kUnreachable;
        },
        kernel_.now());
  }
  rerouted_();
}

// Time from which on nothing is in a device that fails now: what has begun to cross its links has arrived,
// and was lost. Nothing else begins. What leaves it at this instant lets others follow that are lost, so that
// it is a multiple of the longest way. Time::max(): nobody knows, as flits may be corrupted, or it is more
// than a switch.
Time FailureActions::last_arrival(const FailingPart& part) const {
  constexpr int kWays = 10;
  const NodeId node = system_.components()[part.device]->id();
  const Roles& roles = system_.roles();
  if (!system_.topology().node(node.index()).is_switch || roles.of<Requester>(node) ||
      roles.of<MemoryOwner>(node) || roles.of<CoherenceHome>(node))
    return Time::max();
  const Time now = kernel_.now();
  Time tail;
  for (const System::LinkView& link : system_.links())
    tail = std::max({tail, link.forward->line_time(), link.backward->line_time()});
  Time longest;
  for (const std::size_t index : part.links) {
    for (LinkEnd* const end : {system_.links()[index].forward, system_.links()[index].backward}) {
      if (end->transmitter()->retries()) return Time::max();
      const Time sent = std::max(now, end->path().wire().free_at()) - now;
      longest = std::max(longest, sent + end->flight() + end->pipeline() + tail);
    }
  }
  return now + Time{longest.ps() * kWays};
}

bool FailureActions::cuts_off() const {
  const auto nodes = static_cast<std::uint32_t>(system_.components().size());
  for (std::uint32_t from = 0; from < nodes; ++from) {
    if (failures_.device_failed(from)) continue;
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (!failures_.device_failed(to) && !system_.routes().reaches(from, to)) return true;
    }
  }
  return false;
}

// Once all that failed is known, and a way leads everywhere, nothing is lost any more: what waited for a link
// leaves by another. Where lines are kept coherent, or writes in buffers, there is more to come.
bool FailureActions::unsettled() const {
  if (!anything_failed_) return false;
  if (failures_.any_device_failed() && kernel_.now() < quiet_at_) return true;
  if (memory_failed_ || failures_.anything_undiscovered()) return true;
  if (system_.address_map().has_coherent() || !system_.roles().all<PersistDomain>().empty()) return true;
  if (!cut_off_) cut_off_ = cuts_off();
  return *cut_off_;
}

// A cache whose home no way leads to has lost the home's lines.
void FailureActions::cut_caches_off() const {
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    CacheAgent* const cache = requester->losing_cache();
    if (!cache) continue;
    const NodeId node = component->id();
    for (const auto& [at, home] : system_.roles().all<CoherenceHome>()) {
      if (may_keep_lines(system_, node, at->id())) continue;
      crashes_.lost(cache->cut_off(at->id()), node);
    }
  }
}

}  // namespace cxloom

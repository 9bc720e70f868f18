#include "system/event_player.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "component/component.hpp"
#include "component/delivery_order.hpp"
#include "component/endpoint.hpp"
#include "device/sequencer.hpp"
#include "interconnect/interrupted_wait.hpp"
#include "interconnect/link_end.hpp"
#include "kernel/kernel.hpp"
#include "protocol/error_answer.hpp"
#include "system/head_bindings.hpp"
#include "system/system.hpp"

namespace cxloom {

EventPlayer::Source::Source(Kernel& kernel) : events(kernel.new_source()) {}

EventPlayer::EventPlayer(Kernel& kernel, const std::vector<EventParams>& events) : kernel_(kernel) {
  if (events.empty()) return;
  source_ = std::make_unique<Source>(kernel);
  std::map<std::string, int> times;
  for (const EventParams& event : events) {
    const std::string name = to_text(event.at) + " " + event.described();
    const int time = ++times[name];
    entries_.push_back({&event, time == 1 ? name : name + " (" + std::to_string(time) + ")", false, {}});
  }
}

// --- Checks ---

namespace {

/// Who repairs `all` repairs `part`, too.
bool covers(const FailingPart& all, const FailingPart& part) {
  const auto repaired = [&](std::size_t link) {
    return std::ranges::find(all.links, link) != all.links.end();
  };
  return all.device == part.device && std::ranges::all_of(part.links, repaired);
}

[[noreturn]] void refuse(const std::string& problem, const std::string& found, const std::string& allowed) {
  throw InputError({problem, found, allowed, {}});
}

}  // namespace

void EventPlayer::attach(System& system) {
  system_ = &system;
  const bool anything_fails =
      std::ranges::any_of(entries_, [](const Entry& entry) { return entry.params->fail.has_value(); });
  if (!anything_fails) check_no_timeouts();
  if (entries_.empty()) return;
  std::vector<std::pair<std::size_t, std::size_t>> ends;
  for (const System::LinkView& link : system.links())
    ends.emplace_back(link.forward->owner().id().index(), link.backward->owner().id().index());
  failures_.emplace(std::move(ends), system.components().size());
  check_order();
  // What holds at each event: as if they happened.
  std::vector<FailingPart> failed;
  VirtualTrials trials;
  ExtentTrials extents;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const EventParams& event = *entries_[i].params;
    below("events[" + std::to_string(i) + "]", [&] {
      if (event.bind || event.unbind) {
        parts_.emplace_back();
        try_binding(event, trials);
        return;
      }
      if (event.add_extent || event.release_extent) {
        parts_.emplace_back();
        try_extent(event, extents);
        return;
      }
      if (event.move_pages) {
        parts_.emplace_back();
        return;
      }
      const bool fails = event.fail.has_value();
      const FailedPart& part = fails ? static_cast<const FailedPart&>(*event.fail) : *event.repair;
      below(fails ? "fail" : "repair", [&] {
        parts_.push_back(find_part(part));
        const std::string what = part.described();
        const auto known = std::ranges::find(failed, parts_.back());
        if (fails) {
          check_links(parts_.back());
          if (known != failed.end()) refuse("it has failed already", what, "a repair before it fails again");
          failed.push_back(parts_.back());
        } else {
          if (known == failed.end())
            refuse("it has not failed", what,
                   "what an event before this one makes fail: the same link, links or device");
          std::erase_if(failed,
                        [&](const FailingPart& part_of_it) { return covers(parts_.back(), part_of_it); });
        }
      });
    });
  }
  if (anything_fails) system.fabric().failures = this;
  std::vector<EventParams> events;
  for (const Entry& entry : entries_) events.push_back(*entry.params);
  system.expect(route_epochs(events, parts_, *failures_));
  const std::vector<std::vector<Time>> down = failure_times(events, parts_, *failures_);
  for (std::size_t link = 0; link < down.size(); ++link) {
    if (down[link].empty()) continue;
    for (LinkEnd* end : {system.links()[link].forward, system.links()[link].backward})
      end->expect_failures(down[link]);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i)
    kernel_.schedule_background(entries_[i].params->at, source_->events, *this, kAct, i);
}

// Where nothing fails, nothing is lost.
void EventPlayer::check_no_timeouts() const {
  for (const auto& [component, requester] : system_->roles().requesters) {
    if (!requester->sets_completion_timeout()) continue;
    throw InputError({"completion_timeout has no effect: nothing fails in this system",
                      {},
                      "events: [{at: ..., fail: {...}}], or no completion_timeout",
                      {},
                      InputError::Kind::kNoEffect},
                     "devices." + component->name() + ".completion_timeout");
  }
}

void EventPlayer::check_order() const {
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].params->at >= entries_[i - 1].params->at) continue;
    throw InputError({"events stand in the order in which they happen",
                      to_text(entries_[i].params->at),
                      "at least " + to_text(entries_[i - 1].params->at) + ", the time of the one before",
                      {}},
                     "events[" + std::to_string(i) + "].at");
  }
}

FailingPart EventPlayer::find_part(const FailedPart& part) const {
  FailingPart found;
  const auto& links = system_->links();
  if (part.device) {
    const Component* const device = below("device", [&] {
      const Component& named = system_->component(*part.device);
      if (!named.is_switch() || !named.reroutes())
        refuse("a device that cannot fail", "'" + *part.device + "'",
               "a switch; of another device its links: link: [a, b]");
      return &named;
    });
    found.device = device->id().index();
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (&links[i].forward->owner() == device || &links[i].backward->owner() == device)
        found.links.push_back(i);
    }
    return found;
  }
  below("link", [&] {
    std::array<const Component*, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i)
      ends[i] = below("[" + std::to_string(i) + "]", [&] { return &system_->component(part.link[i]); });
    for (std::size_t i = 0; i < links.size(); ++i) {
      const Component* const a = &links[i].forward->owner();
      const Component* const b = &links[i].backward->owner();
      if ((a == ends[0] && b == ends[1]) || (a == ends[1] && b == ends[0])) found.links.push_back(i);
    }
    if (found.links.empty())
      refuse("no link joins these devices", part.link[0] + " and " + part.link[1], "two devices with a link");
  });
  if (!part.number) return found;
  below("number", [&] {
    if (*part.number > found.links.size())
      refuse("there is no such link", std::to_string(*part.number),
             "at most " + std::to_string(found.links.size()));
  });
  found.links = {found.links[*part.number - 1]};
  return found;
}

// What is beside a failure must be able to live with it.
void EventPlayer::check_links(const FailingPart& part) const {
  if (system_->address_map().has_coherent()) {
    refuse(
        "nothing fails in a system with coherent regions", {},
        "regions without coherence: a snoop or an answer that is lost would leave its home waiting for ever");
  }
  for (const auto& [component, initiator] : system_->roles().io_initiators) {
    if (initiator->losses()) continue;
    refuse("nothing fails beside '" + component->name() + "', which cannot lose packets of CXL.io", {},
           "a system without it, or an initiator that has IoInitiator::losses()");
  }
  for (const std::size_t index : part.links) {
    const System::LinkView& link = system_->links()[index];
    if (link.params->outage.at) {
      refuse("a link that events make fail has no outage of its own", link.name,
             "no outage of the link: fail and repair say when it is down");
    }
    for (const LinkEnd* end : {link.forward, link.backward}) {
      if (end->owner().reroutes()) continue;
      refuse("'" + end->owner().name() + "' finds no other way when a link of it fails", link.name,
             "links of switches, buses, hosts, accelerators and memories");
    }
  }
}

VirtualSwitches& EventPlayer::virtual_switches_at(const std::string& name) const {
  return below("switch", [&]() -> std::reference_wrapper<VirtualSwitches> {
    VirtualSwitching* const found = system_->roles().virtual_switches.of(system_->component(name).id());
    if (!found) refuse("a device without virtual switches", "'" + name + "'", "a switch with vcs");
    return found->virtual_switches();
  });
}

void EventPlayer::try_binding(const EventParams& event, VirtualTrials& trials) const {
  const auto trial_of = [&](const std::string& name) -> VirtualSwitches& {
    return trials.try_emplace(name, virtual_switches_at(name)).first->second;
  };
  if (event.bind) {
    below("bind", [&] {
      trial_of(event.bind->switch_name).bind({event.bind->vcs, event.bind->vppb}, *event.bind);
      check_bound_once(*system_, system_->component(event.bind->switch_name), *event.bind,
                       [&](const Component& other) { return &trial_of(other.name()); });
    });
  } else {
    below("unbind", [&] {
      trial_of(event.unbind->switch_name)
          .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
    });
  }
}

DynamicCapacity& EventPlayer::capacity_of(const std::string& name) const {
  return below("device", [&]() -> std::reference_wrapper<DynamicCapacity> {
    DynamicMemory* const found = system_->roles().dynamic_memories.of(system_->component(name).id());
    if (!found)
      refuse("a device without dynamic capacity", "'" + name + "'", "a memory with dynamic_capacity");
    return found->dynamic_capacity();
  });
}

void EventPlayer::try_extent(const EventParams& event, ExtentTrials& trials) const {
  const ExtentEventParams& extent = event.add_extent ? *event.add_extent : *event.release_extent;
  below(event.add_extent ? "add_extent" : "release_extent", [&] {
    DynamicCapacity& trial = trials.try_emplace(extent.device, capacity_of(extent.device)).first->second;
    if (event.add_extent) {
      trial.add(extent, event.at);
    } else {
      trial.release(extent, event.at);
    }
  });
}

Sequencer& EventPlayer::mover_of(const MovePagesParams& move) const {
  return below("requester", [&]() -> std::reference_wrapper<Sequencer> {
    Sequencer* const found = system_->roles().requesters.of(system_->component(move.requester).id());
    if (!found || !found->has_work())
      refuse("it has no workload", "'" + move.requester + "'", "a host or an accelerator with a workload");
    return *found;
  });
}

void EventPlayer::expect_moves() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& move = entries_[i].params->move_pages;
    if (!move) continue;
    below("events[" + std::to_string(i) + "]", [&] {
      below("move_pages", [&] {
        MovablePages* const pages = mover_of(*move).expect_moves();
        if (!pages) {
          throw InputError({"its pages cannot be moved: they are not placed, or cores make its accesses",
                            "'" + move->requester + "'",
                            "a workload with addresses: {kind: ...}, and a requester without core",
                            {}},
                           "requester");
        }
        order_of(*move, *pages);
      });
    });
  }
}

PageMover::Order EventPlayer::order_of(const MovePagesParams& move, MovablePages& pages) const {
  const auto node = [&](const char* key, const std::string& memory) {
    const auto found = pages.node_of_memory(memory);
    if (!found) {
      throw InputError({"the program has no pages there", "'" + memory + "'", list_names(pages.node_names()),
                        nearest_name(memory, pages.node_names())},
                       key);
    }
    return *found;
  };
  PageMover::Order order{
      node("from", move.from), node("to", move.to), move.share, std::nullopt, {}, move.copy};
  if (order.from == order.to)
    throw InputError({"the pages are there already", "'" + move.to + "'", "another memory than `from`", {}},
                     "to");
  if (move.base) order.range = AddressRange{*move.base, move.size->count()};
  if (move.rate) order.rate = move.rate->rate;
  return order;
}

// --- What happens ---

void EventPlayer::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kAct: act(payload); return;
    case kReroute: reroute(payload); return;
    case kTakeKept:
      system_->components()[DeliveryOrder::destination_of(payload).index()]->take_kept(payload);
      return;
    default: time_out(*reinterpret_cast<Message*>(payload));
  }
}

void EventPlayer::act(std::size_t event) {
  entries_[event].happened = true;
  const EventParams& params = *entries_[event].params;
  if (params.fail || params.repair) current_ = event;
  if (params.fail) {
    fail(event);
  } else if (params.repair) {
    repair(event);
  } else if (params.bind) {
    virtual_switches_at(params.bind->switch_name).bind({params.bind->vcs, params.bind->vppb}, *params.bind);
  } else if (params.move_pages) {
    Sequencer& requester = mover_of(*params.move_pages);
    requester.move_pages(order_of(*params.move_pages, *requester.expect_moves()));
  } else if (params.add_extent) {
    capacity_of(params.add_extent->device).add(*params.add_extent, kernel_.now());
  } else if (params.release_extent) {
    capacity_of(params.release_extent->device).release(*params.release_extent, kernel_.now());
  } else {
    virtual_switches_at(params.unbind->switch_name)
        .unbind({params.unbind->vcs, params.unbind->vppb}, params.unbind->surprise);
  }
}

void EventPlayer::fail(std::size_t event) {
  const FailingPart& part = parts_[event];
  if (part.device != FailingPart::kNone) system_->components()[part.device]->routes_changed(true);
  for (const std::size_t index : failures_->fail(part, event)) {
    system_->links()[index].forward->interrupt();
    system_->links()[index].backward->interrupt();
  }
  each_end_at(part, [](LinkEnd& end) { end.close(); });  // what waits there is lost
  kernel_.schedule(kernel_.now() + entries_[event].params->fail->reroute_time, source_->events, *this,
                   kReroute, event);
}

// The ends of its links at a device that fails, or is repaired.
void EventPlayer::each_end_at(const FailingPart& part, const std::function<void(LinkEnd&)>& action) const {
  for (const std::size_t index : part.links) {
    const System::LinkView& link = system_->links()[index];
    for (LinkEnd* end : {link.forward, link.backward}) {
      if (end->owner().id().index() == part.device) action(*end);
    }
  }
}

// Of what failed then, what has not been repaired meanwhile.
void EventPlayer::reroute(std::size_t event) {
  const std::vector<std::size_t> found = failures_->discover(parts_[event], event);
  if (found.empty()) return;
  compute_routes();
  for (const std::size_t link : found) {
    system_->links()[link].forward->close();
    system_->links()[link].backward->close();
  }
}

void EventPlayer::repair(std::size_t event) {
  const std::vector<std::size_t> repaired = failures_->repair(parts_[event]);
  wait_for_discovery(parts_[event]);
  compute_routes();
  for (const std::size_t link : repaired) {
    system_->links()[link].forward->reopen();
    system_->links()[link].backward->reopen();
  }
  for (const std::size_t link : repaired) {
    for (const LinkEnd* end : {system_->links()[link].forward, system_->links()[link].backward})
      system_->components()[end->owner().id().index()]->link_repaired();
  }
}

// A switch that fails closes its ends at once. Where a link stays down that its neighbours still send over, so does the
// repaired switch: what is closed must not be on a route.
void EventPlayer::wait_for_discovery(const FailingPart& repaired) {
  FailingPart undiscovered{{}, repaired.device};
  for (const std::size_t link : repaired.links) {
    if (failures_->undiscovered(link)) undiscovered.links.push_back(link);
  }
  each_end_at(undiscovered, [](LinkEnd& end) {
    end.reopen();
    end.interrupt();
  });
}

void EventPlayer::compute_routes() {
  system_->route_around(failures_->avoided());
  for (const auto& component : system_->components())
    component->routes_changed(failures_->device_failed(component->id().index()));
}

// --- Messages that find no way ---

// It never comes to its destination. What is kept there until it has come is taken at the end of what happens now.
void EventPlayer::forget(const Message& message) {
  DeliveryOrder* const order = system_->fabric().order.get();
  if (!order || !DeliveryOrder::covers(message.channel) || !order->forget(message)) return;
  kernel_.schedule(kernel_.now(), source_->events, *this, kTakeKept, DeliveryOrder::stream_of(message));
}

void EventPlayer::rerouted() { ++cost(kernel_.now()).rerouted; }

bool EventPlayer::answers(Message& message, NodeId node, Time now) {
  if (!is_request(message)) {
    lose(message, now);
    return false;
  }
  ++cost(now).failed;
  message.charge(kInterrupted, now);
  forget(message);
  make_error_answer(message, node);
  message.via = kViaNobody;
  if (system_->fabric().order && message.destination != node) system_->fabric().order->number(message);
  return true;
}

// The clock of a completion timeout starts when the request is issued.
void EventPlayer::lose(Message& message, Time now) {
  if (message.channel == Channel::kIo) return lose_packet(message, now);
  Sequencer* const requester = system_->roles().requesters.of(message.requester);
  ensure(requester != nullptr, "a message that nobody asked for is lost");
  forget(message);
  Time issued = now;
  if (const Account* account = message.account) issued = message.age + account->of(Segment::kRequesterQueue);
  const Time end = std::max(now, issued + requester->completion_timeout());
  ++cost(end).lost;
  kernel_.schedule(end, source_->events, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

IoLosses& EventPlayer::sender_of(const Message& packet) const {
  const NodeId sender = packet.opcode == Opcode::kCplD ? packet.destination : packet.source;
  IoInitiator* const initiator = system_->roles().io_initiators.of(sender);
  ensure(initiator != nullptr && initiator->losses() != nullptr,
         "a packet of CXL.io that nobody may lose is lost");
  return *initiator->losses();
}

// Nothing answers CXL.io with an error: what finds no way is lost, too.
void EventPlayer::lose_packet(Message& message, Time now) {
  const Time end = sender_of(message).hears_of_loss(message, now);
  ++cost(end).lost;
  kernel_.schedule(end, source_->events, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

// The requester answers itself.
void EventPlayer::time_out(Message& message) {
  if (message.channel == Channel::kIo) return sender_of(message).lose(message);
  message.charge(kInterrupted, kernel_.now());
  make_error_answer(message, message.requester);
  message.destination = message.requester;
  message.port = Endpoint::kInside;
  system_->components()[message.requester.index()]->receive(message);
}

}  // namespace cxloom

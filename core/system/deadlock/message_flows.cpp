#include "system/deadlock/message_flows.hpp"

#include <initializer_list>
#include <utility>

#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/replica_set.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/virtual_switches.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

constexpr ClassSet set_of(std::initializer_list<Channel> channels) {
  ClassSet set = 0;
  for (const Channel each : channels) set |= cxloom::set_of(each);
  return set;
}

/// What two devices send to each other.
struct Dialogue {
  ClassSet there;
  ClassSet back;
};

constexpr Dialogue kPlain{set_of({Channel::kM2SReq, Channel::kM2SRwD}),
                          set_of({Channel::kS2MNDR, Channel::kS2MDRS})};
constexpr Dialogue kBackInvalidate{set_of({Channel::kM2SReq, Channel::kM2SRwD, Channel::kM2SBIRsp}),
                                   set_of({Channel::kS2MNDR, Channel::kS2MDRS, Channel::kS2MBISnp})};
constexpr Dialogue kCache{set_of({Channel::kD2HReq, Channel::kD2HRsp, Channel::kD2HData}),
                          set_of({Channel::kH2DReq, Channel::kH2DRsp, Channel::kH2DData})};
/// A host with a device that is the home of its own memory by bias: requests of both.
constexpr Dialogue kBias{kPlain.there | kCache.back, kPlain.back | kCache.there};

Dialogue with_home(Coherence coherence) {
  if (coherence == Coherence::kHdmDb) return kBackInvalidate;
  if (coherence == Coherence::kHdmH) return kCache;
  return kBias;
}

class FlowCollector {
 public:
  explicit FlowCollector(MessageFlows& flows) : flows_(flows) {}

  void talk(NodeId a, NodeId b, const Dialogue& dialogue) {
    if (a == b) return;
    flows_.to[b.index()].push_back({a.index(), dialogue.there});
    flows_.to[a.index()].push_back({b.index(), dialogue.back});
  }

  /// To be called once, at the end: who sends to a destination for several reasons is one sender, where it
  /// was first.
  void join_senders(std::size_t nodes) {
    constexpr std::size_t kNowhere = ~std::size_t{0};
    std::vector<std::size_t> place(nodes, kNowhere);
    for (auto& [destination, senders] : flows_.to) {
      std::size_t kept = 0;
      for (const RouteWalk::Sender& each : senders) {
        if (place[each.node] == kNowhere) {
          place[each.node] = kept;
          senders[kept++] = each;
        } else {
          senders[place[each.node]].classes |= each.classes;
        }
      }
      senders.erase(senders.begin() + static_cast<std::ptrdiff_t>(kept), senders.end());
      for (const RouteWalk::Sender& each : senders) place[each.node] = kNowhere;
    }
  }

 private:
  MessageFlows& flows_;
};

}  // namespace

void MessageFlows::add_to(RouteWalk& walk, const System& system) const {
  std::vector<std::uint32_t> refusing;
  for (const auto& [component, virtual_switching] : system.roles().all<VirtualSwitching>())
    refusing.push_back(component->id().index());
  walk.refuse_at(refusing);
  if (system.router().detours()) {
    std::map<std::uint32_t, ClassSet> classes;
    for (const auto& [destination, senders] : to) {
      for (const RouteWalk::Sender& sender : senders) classes[sender.node] |= sender.classes;
    }
    std::vector<RouteWalk::Sender> senders;
    for (const auto& [node, sent] : classes) senders.push_back({node, sent});
    std::vector<std::uint32_t> switches;
    for (std::uint32_t node = 0; node < system.topology().size(); ++node) {
      if (system.topology().node(node).is_switch) switches.push_back(node);
    }
    walk.add_detours(switches, senders);
  }
  for (const auto& [destination, senders] : to) walk.add(destination, senders);
  for (const auto& [requester, answering] : error_answers(walk.dead_ends()))
    walk.add_straight(requester, answering);
}

// Where a request finds no way on, or comes to virtual switches, an error answer may begin, which goes
// straight.
std::map<std::uint32_t, std::vector<RouteWalk::Sender>> MessageFlows::error_answers(
    const std::vector<RouteWalk::DeadEnd>& dead_ends) const {
  const auto errors_for = [](ClassSet asked) {
    const bool of_memory = (asked & kPlain.there) != 0;
    const bool of_home = (asked & cxloom::set_of(Channel::kD2HReq)) != 0;
    return (of_memory ? kPlain.back : ClassSet{0}) |
           (of_home ? set_of({Channel::kH2DRsp, Channel::kH2DData}) : ClassSet{0});
  };
  std::map<std::uint32_t, std::map<std::pair<std::size_t, std::uint32_t>, ClassSet>>
      found;  // by requester: since when, where, in which classes
  for (const RouteWalk::DeadEnd& end : dead_ends) {
    for (const RouteWalk::Sender& sender : to.at(end.destination)) {
      if (const ClassSet errors = errors_for(sender.classes))
        found[sender.node][{end.table, end.node}] |= errors;
    }
  }
  std::map<std::uint32_t, std::vector<RouteWalk::Sender>> answers;
  for (const auto& [requester, places] : found) {
    for (const auto& [place, errors] : places)
      answers[requester].push_back({place.second, errors, place.first});
  }
  return answers;
}

MessageFlows message_flows(const System& system, bool all_requesters) {
  MessageFlows flows;
  FlowCollector collector(flows);
  const AddressMap& map = system.address_map();
  const auto with_work = [&](auto&& take) {
    for (const auto& [component, requester] : system.roles().all<Requester>()) {
      if (system.roles().of<TransferEngine>(component->id())) continue;
      if (all_requesters || requester->has_work()) take(component->id());
    }
    // Devices that complete DMA requests make accesses, too; memories make them of their own.
    for (const auto& [component, engine] : system.roles().all<TransferEngine>()) {
      if (engine->dma()) take(engine->dma()->host_node());
    }
  };
  const auto reaches = [&](NodeId from, NodeId to) {
    return system.routes().reaches(from.index(), to.index());
  };
  const auto talk_plainly = [&](NodeId from, NodeId to) {
    if (reaches(from, to)) collector.talk(from, to, kPlain);
  };
  for (const NodeId target : map.targets())
    with_work([&](NodeId requester) { talk_plainly(requester, target); });
  for (const auto& [component, buffer] : system.roles().all<PersistDomain>()) {
    for (const NodeId target : map.targets()) talk_plainly(component->id(), target);
    with_work([&, node = component->id()](NodeId requester) { talk_plainly(requester, node); });
  }
  if (const ReplicaSets* const replicas = system.system_context().replicas.get()) {
    for (const auto& set : replicas->all()) {
      if (set->params().by_hosts()) continue;
      const NodeId by = system.component(*set->params().by_switch).id();
      for (std::size_t copy = 0; copy < set->size(); ++copy) talk_plainly(by, set->node(copy));
      with_work([&](NodeId requester) { talk_plainly(requester, by); });
    }
  }
  for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
    for (const NodeId home : map.homes(coherence)) {
      const Dialogue dialogue = with_home(coherence);
      const Channel request = coherence == Coherence::kHdmH ? Channel::kD2HReq : Channel::kM2SReq;
      MessageFlows::Home held{home.index(), cxloom::set_of(request), dialogue.back, dialogue.there, {}};
      with_work([&](NodeId requester) {
        if (!reaches(requester, home)) return;
        collector.talk(requester, home, dialogue);
        if (requester != home) held.answering.push_back(requester.index());
      });
      for (const NodeId target : map.targets_of(home)) {
        collector.talk(home, target, kPlain);
        if (target == home) continue;
        held.sends |= kPlain.there;
        held.answers |= kPlain.back;
        held.answering.push_back(target.index());
      }
      flows.homes.push_back(std::move(held));
    }
  }
  for (const auto& [component, initiator] : system.roles().all<IoInitiator>()) {
    const ClassSet io = cxloom::set_of(Channel::kIo);
    collector.talk(component->id(), system.component(initiator->target()).id(), {io, io});
  }
  for (const auto& [component, engine] : system.roles().all<TransferEngine>()) {
    if (!engine->dma()) continue;
    const ClassSet io = cxloom::set_of(Channel::kIo);
    collector.talk(component->id(), engine->dma()->host_node(), {io, io});
    for (const NodeId peer : engine->dma()->peer_nodes()) collector.talk(component->id(), peer, {io, io});
  }
  collector.join_senders(system.topology().size());
  return flows;
}

}  // namespace cxloom

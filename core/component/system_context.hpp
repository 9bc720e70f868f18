// What all components of a system share: its addresses, its routes, the roles that each plays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "component/posted_requests.hpp"
#include "component/roles.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class AddressMap;
class DeliveryOrder;
class Endpoint;
class Failures;
class LineVersions;
class ProtocolObserver;
class ReplicaSets;
class SharedLines;
class VirtualChannelTurns;

/// Which way messages go.
class Routes {
 public:
  virtual ~Routes() = default;
  /// Index of the port by which `message` leaves `node`.
  virtual std::uint16_t port(Message& message, NodeId node) = 0;
  /// By destination, the port by which every message to it leaves `node`; kVaries if that depends on more.
  virtual std::vector<std::uint16_t> fixed_ports(NodeId node) = 0;
  static constexpr std::uint16_t kVaries = 0xffffU;
  /// Instead of a port, where no way leads on: links have failed.
  static constexpr std::uint16_t kNowhere = 0xfffeU;
  /// Messages of a class from a source to an address never overtake each other.
  virtual bool keeps_order() const { return true; }
  /// The virtual channels that messages take at a switch. Null: there are no others than the first ones.
  virtual const VirtualChannelTurns* turns(NodeId /*node*/) const { return nullptr; }
  /// Messages may be sent by another switch first: `Message::via` is in use.
  virtual bool detours() const { return false; }
};

/// Maps and routes are complete when `Component::start` is called.
struct SystemContext {
  SystemContext();
  ~SystemContext();

  std::unique_ptr<AddressMap> map;  ///< of the whole system
  std::unique_ptr<Routes> routes;
  std::unique_ptr<DeliveryOrder> order;    ///< of messages under way, where routes do not keep it; else none
  std::unique_ptr<LineVersions> versions;  ///< of lines of persistent memory; none: nobody asks for them
  std::unique_ptr<SharedLines> shared;     ///< which stores a host has seen; none: nobody asks for them
  std::unique_ptr<ReplicaSets> replicas;   ///< of regions that are replicated; none: there is no such region
  PostedRequests posted;
  Roles roles;
  std::vector<const Endpoint*> caches;   ///< the devices with caches that may hold coherent lines
  Failures* failures = nullptr;          ///< what becomes of messages that find no way; none: nothing fails
  ProtocolObserver* observer = nullptr;  ///< of the messages that endpoints send and take; mostly nobody

  /// One at least.
  std::uint32_t cache_count() const { return caches.empty() ? 1 : static_cast<std::uint32_t>(caches.size()); }
  /// The name of the endpoint at that node; its number if there is none.
  std::string name_of(NodeId node) const;
  /// To be called by each endpoint when it is made.
  void add_endpoint(const Component& endpoint, NodeId node);

  /// The map as the device at that node sees it: that of the whole system, unless it has one of its own.
  const AddressMap& map_of(NodeId node) const;
  void give_map(NodeId node, AddressMap&& own);

  /// Which way a message goes where directions differ (a bus). CXL.io goes by where it leads.
  bool goes_downstream(const Message& message) const {
    return message.channel == Channel::kIo ? !leads_upstream(message.destination)
                                           : is_downstream(message.channel);
  }
  /// CXL.io to that node goes upstream: it is, or stands for, a root complex.
  bool leads_upstream(NodeId node) const;
  void set_root(NodeId node);

 private:
  std::vector<bool> roots_;  // by node
  std::vector<const Component*> endpoints_;
  std::vector<std::unique_ptr<AddressMap>> own_maps_;  // by node; none: it sees all
};

}  // namespace cxloom

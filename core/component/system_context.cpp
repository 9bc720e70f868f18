#include "component/system_context.hpp"

#include "component/component.hpp"
#include "component/delivery_order.hpp"
#include "component/line_versions.hpp"
#include "component/replica_set.hpp"
#include "component/shared_lines.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

SystemContext::SystemContext() : map(std::make_unique<AddressMap>()) {}
SystemContext::~SystemContext() = default;

std::string SystemContext::name_of(NodeId node) const {
  const Component* const endpoint = node.index() < endpoints_.size() ? endpoints_[node.index()] : nullptr;
  return endpoint ? endpoint->name() : std::to_string(node.index());
}

void SystemContext::add_endpoint(const Component& endpoint, NodeId node) {
  if (endpoints_.size() <= node.index()) endpoints_.resize(node.index() + 1);
  endpoints_[node.index()] = &endpoint;
}

const AddressMap& SystemContext::map_of(NodeId node) const {
  const bool has_own = node.index() < own_maps_.size() && own_maps_[node.index()];
  return has_own ? *own_maps_[node.index()] : *map;
}

void SystemContext::give_map(NodeId node, AddressMap&& own) {
  if (own_maps_.size() <= node.index()) own_maps_.resize(node.index() + 1);
  own_maps_[node.index()] = std::make_unique<AddressMap>(std::move(own));
}

bool SystemContext::leads_upstream(NodeId node) const {
  return node.index() < roots_.size() && roots_[node.index()];
}

void SystemContext::set_root(NodeId node) {
  if (roots_.size() <= node.index()) roots_.resize(node.index() + 1);
  roots_[node.index()] = true;
}

}  // namespace cxloom

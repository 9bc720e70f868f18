#include "system/model/system.hpp"

#include "base/error.hpp"
#include "component/component.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/routing/routing.hpp"

namespace cxloom {

std::string System::LinkView::way(const LinkEnd& end) const {
  const std::string way = end.name();
  return way + name.substr(way.size() - 1);
}

System::System(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
System::System(System&&) noexcept = default;
System::~System() = default;

std::vector<std::optional<PbrId>> System::pbr_ids() const {
  std::vector<std::optional<PbrId>> ids(components().size());
  for (std::size_t id = 0; id < edge_ports().size(); ++id) {
    std::optional<PbrId>& of_device = ids[edge_ports()[id].device];
    if (!of_device) of_device = PbrId{static_cast<std::uint16_t>(id)};
  }
  return ids;
}

void System::route_around(const std::vector<bool>& links) {
  RouteEpoch& next = epochs_.at(++epoch_);
  ensure(next.avoided == links, "routes change otherwise than was planned");
  for (std::uint32_t link = 0; link < links.size(); ++link) parts_->topology.set_down(link, links[link]);
  *parts_->routes = RouteTable(topology(), route_metric(), parts_->given_routes);
  if (!next.plan.turns.empty()) router().plan(std::move(next.plan));
}

void System::set_offline(NodeId memory, bool offline) {
  if (offline) {
    offline_.insert(memory.index());
  } else {
    offline_.erase(memory.index());
  }
}

}  // namespace cxloom

#include "component/system_context.hpp"

#include "component/component.hpp"
#include "component/delivery_order.hpp"
#include "component/line_versions.hpp"

namespace cxloom {

SystemContext::SystemContext() = default;
SystemContext::~SystemContext() = default;

std::string SystemContext::name_of(NodeId node) const {
  const Component* const endpoint = node.index() < endpoints_.size() ? endpoints_[node.index()] : nullptr;
  return endpoint ? endpoint->name() : std::to_string(node.index());
}

}  // namespace cxloom

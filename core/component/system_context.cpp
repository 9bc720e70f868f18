#include "component/system_context.hpp"

#include "component/component.hpp"

namespace cxloom {

std::string SystemContext::name_of(NodeId node) const {
  const Component* const endpoint = node.index() < endpoints_.size() ? endpoints_[node.index()] : nullptr;
  return endpoint ? endpoint->name() : std::to_string(node.index());
}

}  // namespace cxloom

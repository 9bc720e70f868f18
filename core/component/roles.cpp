#include "component/roles.hpp"

namespace cxloom {

void RolePlayers::declare(Component& component, NodeId node, void* role) {
  if (by_node.size() <= node.index()) by_node.resize(node.index() + 1);
  by_node[node.index()] = role;
  players.push_back({&component, role});
}

}  // namespace cxloom

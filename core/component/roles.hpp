// The roles that a component may play besides taking messages: what the builder, the run and the results must
// know of it. A component declares its roles when it is made, so that nobody asks what class it is.
//
// A role is an interface on the floor that has its words, with a number from here:
//
//   class SharedMedium {
//    public:
//     static constexpr RoleKind kRole = RoleKind::kSharedMedium;
//     ...
//   };
//   context.roles.declare<SharedMedium>(component, component.id(), *this);
//   for (const auto& [component, medium] : roles.all<SharedMedium>()) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class Component;

enum class RoleKind : std::uint8_t {
  kRequester,         ///< makes the requests of a workload: device/requester/requester.hpp
  kMemoryOwner,       ///< serves memory: memory/media/memory_owner.hpp
  kCoherenceHome,     ///< keeps memory coherent: coherence/home/coherence_home.hpp
  kIoInitiator,       ///< makes CXL.io traffic: component/io_roles.hpp
  kIoTarget,          ///< answers it: the same
  kSharedMedium,      ///< a wire of several links: interconnect/wire/shared_medium.hpp
  kVirtualSwitching,  ///< has virtual switches: device/switch/virtual_switches.hpp
  kDynamicMemory,     ///< has memory of dynamic capacity: device/memory/dynamic_capacity.hpp
  kPersistDomain,     ///< keeps writes so that they are durable: device/switch/persist_domain.hpp
  kTransferEngine,    ///< moves blocks of memory on demand: component/transfer_engine.hpp
};
inline constexpr std::size_t kRoleKinds = static_cast<std::size_t>(RoleKind::kTransferEngine) + 1;

/// Who plays a role, in the order of the devices.
template <class Role>
class RoleTable {
 public:
  struct Entry {
    Component* component;
    Role* role;
  };

  void declare(Component& component, NodeId node, Role& role) {
    if (by_node_.size() <= node.index()) by_node_.resize(node.index() + 1);
    by_node_[node.index()] = &role;
    entries_.push_back({&component, &role});
  }
  /// Null: the component at that node does not play it.
  Role* of(NodeId node) const { return node.index() < by_node_.size() ? by_node_[node.index()] : nullptr; }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
  std::vector<Role*> by_node_;
};

/// The roles of all components of a system.
class Roles {
 public:
  template <class Role>
  void declare(Component& component, NodeId node, Role& role) {
    std::shared_ptr<void>& table = tables_[index_of<Role>()];
    if (!table) table = std::make_shared<RoleTable<Role>>();
    static_cast<RoleTable<Role>*>(table.get())->declare(component, node, role);
  }
  template <class Role>
  const RoleTable<Role>& all() const {
    static const RoleTable<Role> kNobody;
    const std::shared_ptr<void>& table = tables_[index_of<Role>()];
    return table ? *static_cast<const RoleTable<Role>*>(table.get()) : kNobody;
  }
  /// Null: the component at that node does not play it.
  template <class Role>
  Role* of(NodeId node) const {
    return all<Role>().of(node);
  }

 private:
  template <class Role>
  static constexpr std::size_t index_of() {
    return static_cast<std::size_t>(Role::kRole);
  }

  std::array<std::shared_ptr<void>, kRoleKinds> tables_;
};

}  // namespace cxloom

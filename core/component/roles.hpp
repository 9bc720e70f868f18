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
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class Component;

enum class RoleKind : std::uint8_t {
  kRequester,         ///< makes the requests of a workload: device/requester/requester.hpp
  kMemoryOwner,       ///< serves memory: memory/memory_owner.hpp
  kCoherenceHome,     ///< keeps memory coherent: coherence/common/coherence_home.hpp
  kIoInitiator,       ///< makes CXL.io traffic: component/io_roles.hpp
  kIoTarget,          ///< answers it: the same
  kSharedMedium,      ///< a wire of several links: interconnect/wire/shared_medium.hpp
  kVirtualSwitching,  ///< has virtual switches: device/switch/virtual_switches.hpp
  kDynamicMemory,     ///< has memory of dynamic capacity: device/memory/dynamic_capacity.hpp
  kPersistDomain,     ///< keeps writes so that they are durable: device/switch/persist_domain.hpp
  kTransferEngine,    ///< moves blocks of memory on demand: component/transfer_engine.hpp
  kReplicatorOwner,   ///< may send writes to several copies of a region: component/replica_set.hpp
};
inline constexpr std::size_t kRoleKinds = static_cast<std::size_t>(RoleKind::kReplicatorOwner) + 1;

/// The components that play one role, whichever: a RoleTable without its type.
struct RolePlayers {
  struct Player {
    Component* component;
    void* role;
  };
  std::vector<Player> players;  ///< in the order of the devices
  std::vector<void*> by_node;

  void declare(Component& component, NodeId node, void* role);
  void* of(NodeId node) const { return node.index() < by_node.size() ? by_node[node.index()] : nullptr; }
};

/// The components that play a role, in the order of the devices.
template <class Role>
class RoleTable {
 public:
  struct Entry {
    Component* component;
    Role* role;
  };
  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(const RolePlayers::Player* at) : at_(at) {}
    Entry operator*() const { return {at_->component, static_cast<Role*>(at_->role)}; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const RolePlayers::Player* at_ = nullptr;
  };

  explicit RoleTable(const RolePlayers& players) : players_(players) {}
  /// Null: the component at that node does not play it.
  Role* of(NodeId node) const { return static_cast<Role*>(players_.of(node)); }
  bool empty() const { return players_.players.empty(); }
  Iterator begin() const { return Iterator(players_.players.data()); }
  Iterator end() const { return Iterator(players_.players.data() + players_.players.size()); }

 private:
  const RolePlayers& players_;
};

/// The roles of all components of a system.
class Roles {
 public:
  template <class Role>
  void declare(Component& component, NodeId node, Role& role) {
    players_[index_of<Role>()].declare(component, node, &role);
  }
  template <class Role>
  RoleTable<Role> all() const {
    return RoleTable<Role>(players_[index_of<Role>()]);
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

  std::array<RolePlayers, kRoleKinds> players_;
};

}  // namespace cxloom

// What a system consists of, for tools that must not know kinds by their names: what each device does for
// others, what of devices and links can fill up, and which parameters give more of it.
#pragma once

#include "base/value.hpp"
#include "component/component.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

/// What a device does for others: requester, root (CXL.io to it goes upstream), memory, home, io-initiator,
/// shared-medium, switch.
Value roles_of(const System& system, const Component& device);

/// The devices with their roles, the links with their names, and whether messages may make detours.
/// `with_resources`: with what of devices and links can fill up.
Value inventory_of(const Registry& registry, const Spec& spec, bool with_resources);

}  // namespace cxloom

// The victim policies that come with cxloom.
#pragma once

#include "tags/victim_policy.hpp"

namespace cxloom::test {

inline const VictimRegistry& victims() {
  static const VictimRegistry kinds = [] {
    VictimRegistry registry("victim policy");
    register_victims(registry);
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test

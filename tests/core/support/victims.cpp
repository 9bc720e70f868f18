#include "core/support/victims.hpp"

#include "base/kind_registry.hpp"

namespace cxloom::test {

const VictimRegistry& victims() {
  static const VictimRegistry kinds = [] {
    VictimRegistry registry("victim policy");
    register_victims(registry);
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test

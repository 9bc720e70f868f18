#include "memory/dram/refresh/policy.hpp"

#include <algorithm>
#include <string>

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/dram/refresh/all_bank.hpp"
#include "memory/dram/refresh/off.hpp"
#include "memory/dram/refresh/same_bank.hpp"
#include "memory/dram/refresh/usual.hpp"

namespace cxloom {

void register_refresh_policies(DramRefreshPolicyRegistry& registry) {
  registry.add<DramRefreshUsual>("usual");
  registry.add<DramRefreshAllBank>("all-bank");
  registry.add<DramRefreshSameBank>("same-bank");
  registry.add<DramRefreshOff>("off");
}

std::unique_ptr<DramRefreshPolicy> make_refresh_policy(const DramRefreshPolicyRegistry& kinds,
                                                       const KindSpec& kinded, DramRefreshContext context) {
  return with_path("refresh", [&] {
    std::unique_ptr<DramRefreshPolicy> policy = kinds.make(kinded, context);
    if (policy->interval() == kNeverClock) return policy;
    const DramDevice& device = context.device;
    if (!device.refreshes(policy->scope())) {
      throw InputError(
          {"'" + std::string(device.name) + "' has no same-bank refresh", {}, "all-bank or off", {}});
    }
    const Clock shortest = device.shortest_refresh_interval(policy->scope());
    if (policy->interval() < shortest) {
      throw InputError(
          {"the refresh policy '" + kinded.kind + "' comes again before a refresh is over",
           cxloom::counted(static_cast<std::uint64_t>(policy->interval()), "clock") + " after the last",
           "at least " + std::to_string(shortest),
           {}});
    }
    return policy;
  });
}

}  // namespace cxloom

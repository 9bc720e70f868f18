#include "system/events/answered.hpp"

#include "coherence/cache/agent.hpp"
#include "component/roles.hpp"
#include "device/requester/requester.hpp"
#include "kernel/distribution.hpp"
#include "system/model/system.hpp"

namespace cxloom {

std::vector<AnsweredSoFar> answered_so_far(const System& system) {
  std::vector<AnsweredSoFar> all;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    all.push_back({requester->latency().count(), static_cast<double>(requester->latency().sum_ps()),
                   requester->errors().count(),
                   requester->cache() ? requester->cache()->dirty_lines_lost() : 0});
  }
  return all;
}

}  // namespace cxloom

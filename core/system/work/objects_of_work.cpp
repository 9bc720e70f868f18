#include "system/work/objects_of_work.hpp"

#include <algorithm>
#include <utility>

#include "system/kinds/registry.hpp"
#include "workload/pattern/objects.hpp"

namespace cxloom {

std::vector<ObjectRange> objects_in(const Spec::Workload& workload, const Registry& registry) {
  const WorkloadParams& params = workload.params;
  if (params.pattern) return objects_of(*params.pattern, workload.pattern);
  std::vector<ObjectRange> all;
  for (std::size_t i = 0; i < params.phases.size(); ++i) {
    with_path("phases[" + std::to_string(i) + "]", [&] {
      const Spec::Workload phase = read_phase(workload.device, params.phases[i], registry);
      for (ObjectRange& each : objects_of(*phase.params.pattern, phase.pattern)) {
        const auto known = std::ranges::find(all, each.name, &ObjectRange::name);
        if (known == all.end()) {
          all.push_back(std::move(each));
        } else if (known->base != each.base || known->size != each.size) {
          throw InputError(
              {"an object has other addresses in another phase",
               "'" + each.name + "' at " + to_text(each.base) + " + " + to_text(each.size),
               to_text(known->base) + " + " + to_text(known->size) +
                   ", as in the phase before; name all objects in each phase, with accesses: 0 if need be",
               {},
               InputError::Kind::kBetween},
              "objects");
        }
      }
    });
  }
  return all;
}

}  // namespace cxloom

#include "system/run/kept_versions.hpp"

#include <memory>

#include "base/error.hpp"
#include "component/line_versions.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void keep_versions(System& system) {
  for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
    if (!system.address_map().persistent_targets(persistence).empty())
      system.system_context().versions = std::make_unique<LineVersions>();
  }
  if (system.system_context().versions) return;
  throw InputError({"versions of lines without persistent memory",
                    {},
                    "a region with persistence: media or controller",
                    {}},
                   "outputs.versions");
}

}  // namespace cxloom

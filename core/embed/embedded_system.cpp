#include "embed/embedded_system.hpp"

#include "base/json.hpp"
#include "results/summary.hpp"
#include "system/plugin/plugin.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

TraceFeed no_trace(const std::string& /*device*/) {
  throw InputError(
      {"traces are read by Python: a program drives its devices itself", {}, "drive(), inject()", {}});
}

}  // namespace

EmbeddedSystem::EmbeddedSystem(std::string_view json, const std::vector<std::string>& plugins)
    : registry_(builtin_registry()) {
  for (const std::string& plugin : plugins) with_path(plugin, [&] { load_plugin(plugin, registry_); });
  simulation_ =
      std::make_unique<Simulation>(registry_, Spec::read(parse_json(json), registry_), no_trace, collector_);
}

Value EmbeddedSystem::summary() const { return summarize(*simulation_, collector_); }

}  // namespace cxloom

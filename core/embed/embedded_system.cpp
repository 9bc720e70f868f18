#include "embed/embedded_system.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "results/collector.hpp"
#include "results/summary.hpp"
#include "system/kinds/registry.hpp"
#include "system/plugin/plugin.hpp"
#include "system/run/simulation.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

TraceFeed no_trace(const std::string& /*device*/) {
  throw InputError(
      {"traces are read by Python: a program drives its devices itself", {}, "drive(), inject()", {}});
}

}  // namespace

struct EmbeddedSystem::Parts {
  Registry registry = builtin_registry();
  Collector collector{false};
  std::unique_ptr<Simulation> simulation;
};

EmbeddedSystem::EmbeddedSystem(std::string_view json, const std::vector<std::string>& plugins)
    : parts_(std::make_unique<Parts>()) {
  Registry& registry = parts_->registry;
  for (const std::string& plugin : plugins) with_path(plugin, [&] { load_plugin(plugin, registry); });
  parts_->simulation = std::make_unique<Simulation>(registry, Spec::read(parse_json(json), registry),
                                                    no_trace, parts_->collector);
}

EmbeddedSystem::~EmbeddedSystem() = default;

void EmbeddedSystem::drive(const std::string& device) { parts_->simulation->drive(device); }

void EmbeddedSystem::inject(const std::string& device, const Access& access, Answered answered) {
  parts_->simulation->inject(device, access, std::move(answered));
}

void EmbeddedSystem::transfer(const std::string& device, const BlockOrder& order, Moved moved) {
  parts_->simulation->transfer(device, order, std::move(moved));
}

void EmbeddedSystem::close_feeds() { parts_->simulation->close_feeds(); }

bool EmbeddedSystem::run_until(Time limit) { return parts_->simulation->run_until(limit); }

Time EmbeddedSystem::next_event_time() const { return parts_->simulation->next_event_time(); }

Time EmbeddedSystem::now() const { return parts_->simulation->now(); }

bool EmbeddedSystem::advancing() const { return parts_->simulation->advancing(); }

void EmbeddedSystem::read(Address address, std::span<std::byte> bytes) const {
  parts_->simulation->bytes().read(address, bytes);
}

void EmbeddedSystem::write(Address address, std::span<const std::byte> bytes) {
  parts_->simulation->bytes().write(address, bytes);
}

Value EmbeddedSystem::summary() const { return summarize(*parts_->simulation, parts_->collector); }

}  // namespace cxloom

#include "system/run/plugin_failure.hpp"

#include <vector>

#include "component/component.hpp"
#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/run/run_kernels.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

/// A part of a system that is of a plug-in.
struct PluginPart {
  std::string device;
  std::string text;
};

/// Adds what is named if it is of a plug-in; returns its entry.
template <class Kinds>
const typename Kinds::Entry* add(const Kinds& kinds, const std::string& what, const std::string& device,
                                 const Value& named, std::vector<PluginPart>& parts) {
  const Value* const inside = named.find("kind");
  const std::string* const kind = inside ? inside->as_text() : named.as_text();
  const auto* const entry = kind ? kinds.find(*kind) : nullptr;
  if (!entry || entry->plugin.empty()) return entry;
  std::string text = what;
  text.append(" '").append(device).append("' (kind '").append(*kind).append("' of the plug-in ");
  parts.push_back({device, text.append(entry->plugin).append(")")});
  return entry;
}

/// Adds the kinds that these parameters of a device name, or those within them.
void add_named(const Registry& registry, const std::string& device, const SchemaInfo& info,
               const Value& params, std::vector<PluginPart>& parts) {
  for (const FieldInfo& field : info.fields) {
    const Value* const value = params.find(field.name);
    if (!value) continue;
    if (field.fields && field.type == "map") add_named(registry, device, *field.fields, *value, parts);
    registry.each_category([&](const char* category, auto, const auto& kinds) {
      if (field.type != "kind" || field.category != category) return;
      const auto* const entry = add(kinds, "the " + kinds.noun() + " of", device, *value, parts);
      if (entry) add_named(registry, device, entry->info, *value, parts);
    });
  }
}

/// Adds those that decide where the pages of a workload are.
void add_policies(const Registry& registry, const Spec::Workload& workload, std::vector<PluginPart>& parts) {
  const auto add_policy = [&](const auto& kinds, const KindSpec& policy) {
    const auto* const entry =
        add(kinds, "the " + kinds.noun() + " of", workload.device, Value(policy.kind), parts);
    if (entry) add_named(registry, workload.device, entry->info, policy.params, parts);
  };
  add_policy(registry.placements, workload.params.addresses);
  if (workload.params.page_tables) add_policy(registry.placements, *workload.params.page_tables);
  if (workload.params.tiering) add_policy(registry.tiering, *workload.params.tiering);
}

std::vector<PluginPart> parts_of_plugins(const Registry& registry, const Spec& spec) {
  std::vector<PluginPart> parts;
  for (const Spec::Device& device : spec.devices) {
    const auto* const entry = add(registry.devices, "device", device.name, device.kinded.kind, parts);
    add_named(registry, device.name, entry->info, device.kinded.params, parts);
  }
  if (const auto* const routing = registry.routing.find(spec.run.routing.kind); !routing->plugin.empty()) {
    parts.push_back(
        {{}, "the routing (kind '" + routing->kind + "' of the plug-in " + routing->plugin + ")"});
  }
  for (const Spec::Workload& workload : spec.workloads) {
    add_policies(registry, workload, parts);
    const std::string what = "the pattern of";
    if (workload.params.pattern)
      add(registry.patterns, what, workload.device, *workload.params.pattern, parts);
    for (const Value& phase : workload.params.phases) {
      if (const Value* const pattern = phase.find("pattern"))
        add(registry.patterns, what, workload.device, *pattern, parts);
    }
  }
  return parts;
}

/// The device that an event woke up, or whose media it did; empty if it was something else, such as the end
/// of a link.
std::string device_at_work(const System& system, const EventHandler* handler) {
  for (const auto& component : system.components()) {
    MemoryOwner* const owner = system.roles().of<MemoryOwner>(component->id());
    bool at_work = handler && handler->name() == component->name();
    if (owner && owner->media())
      each_medium(*owner->media(), [&](const Media& media) { at_work = at_work || &media == handler; });
    if (at_work) return component->name();
  }
  return {};
}

}  // namespace

void PluginFailure::fail(const std::string& thrown) const {
  const std::vector<PluginPart> parts = parts_of_plugins(registry_, spec_);
  if (parts.empty()) throw;
  const std::string device = device_at_work(system_, kernels_.failed());
  std::string names;
  std::string suspects;
  for (const PluginPart& part : parts) {
    std::string& list = part.device == device ? names : suspects;
    list.append(list.empty() ? "" : ", or ").append(part.text);
  }
  throw SimulationError((names.empty() ? suspects : names) + " threw during the run: " + thrown);
}

}  // namespace cxloom

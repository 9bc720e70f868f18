#include "system/tasks/task_objects.hpp"

#include <algorithm>
#include <utility>

#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

namespace {

std::string first_user_of_memory(const System& system) {
  for (const auto& [component, requester] : system.roles().all<Requester>()) return component->name();
  for (const auto& [component, engine] : system.roles().all<TransferEngine>()) return component->name();
  return {};
}

}  // namespace

TaskObjects::TaskObjects(const Registry& registry, const Spec& spec, const System& system)
    : system_(system), nodes_(system, spec.events), first_host_(first_user_of_memory(system)) {
  if (spec.tasks.objects.empty()) return;
  for (const Spec::Workload& workload : spec.workloads) {
    if (!workload.params.places_pages()) continue;
    throw InputError({"memory is not divided between objects of tasks and the pages of a workload",
                      {},
                      "addresses: as-is",
                      {},
                      InputError::Kind::kBetween},
                     "workload." + workload.device + ".addresses");
  }
  for (std::size_t i = 0; i < spec.tasks.objects.size(); ++i) {
    with_path("tasks." + indexed("objects", i),
              [&] { place(registry, spec.tasks.objects[i], spec.tasks.page); });
  }
}

TaskObjects::View& TaskObjects::view_of(const std::string& host, Bytes page) {
  const auto [found, is_new] = views_.try_emplace(host);
  View& view = found->second;
  if (!is_new) return view;
  view.nodes = nodes_.of(host, page);
  std::erase_if(view.nodes, [](const NumaNode& node) { return node.in_extents || node.frames.empty(); });
  for (const NumaNode& node : view.nodes) {
    const auto [frames, first] = frames_.try_emplace(node.frames.front().base.value());
    if (first) frames->second.frames = std::make_shared<const FrameOrder>(node.frames, page);
    view.frames.push_back(&frames->second);
  }
  return view;
}

void TaskObjects::place(const Registry& registry, const TaskObjectParams& params, Bytes page) {
  if (numbers_.contains(params.name))
    throw InputError({"two objects have one name", "'" + params.name + "'", "another name", {}}, "name");
  if (first_host_.empty())
    throw InputError({"no device that could use an object", {}, "a host, an accelerator or a GPU", {}});
  const std::string host = params.host.value_or(first_host_);
  const NodeId node = with_path("host", [&] { return system_.component(host).id(); });
  if (system_.address_map().empty())
    throw InputError({"there is no memory for objects", {}, "address_map: a region or more", {}});
  View& view = view_of(host, page);
  const std::vector<MemoryOfOther> others = memory_of_others(system_.address_map_of(node), host);
  PlacementContext context{view.nodes, page, registry.placements, others, {}};
  const auto made =
      with_path("addresses", [&] { return registry.placements.make(params.addresses, context); });
  objects_.emplace_back(params.name, params.size, page, *made, view.frames, pages_);
  pages_ += objects_.back().pages();
  host_of_.push_back(host);
  numbers_[params.name] = static_cast<std::uint32_t>(objects_.size() - 1);
}

std::optional<std::uint32_t> TaskObjects::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> TaskObjects::names() const {
  std::vector<std::string> names;
  for (const PlacedObject& object : objects_) names.push_back(object.name());
  return names;
}

}  // namespace cxloom

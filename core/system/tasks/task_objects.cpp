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

// In place of the address of its first frame, of a node that has none for its device.
constexpr std::uint64_t kNoFrame = ~std::uint64_t{0};

std::string first_user_of_memory(const System& system) {
  for (const auto& [component, requester] : system.roles().all<Requester>()) return component->name();
  for (const auto& [component, engine] : system.roles().all<TransferEngine>()) return component->name();
  return {};
}

/// The frames of a node that its device has now.
Frames frames_there(const NumaNode& node, const std::vector<bool>& offered) {
  Frames frames;
  for (std::size_t run = 0; run < node.frames.size(); ++run) {
    if (offered[node.in_extents ? run : 0]) frames.push_back(node.frames[run]);
  }
  return frames;
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
  std::erase_if(view.nodes, [](const NumaNode& node) { return !node.in_extents && node.frames.empty(); });
  const std::vector<std::vector<bool>> offered = nodes_.offered(host, view.nodes, page);
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    NumaNode& node = view.nodes[i];
    node.frames = frames_there(node, offered[i]);
    if (node.frames.empty()) view.without.push_back(node.name());
    view.has_memory.push_back(!node.frames.empty());
    view.frames.push_back(&frames_of(node, page));
  }
  return view;
}

ObjectNode& TaskObjects::frames_of(const NumaNode& node, Bytes page) {
  const std::uint64_t key = node.frames.empty() ? kNoFrame : node.frames.front().base.value();
  const auto [found, first] = frames_.try_emplace(key);
  if (first) found->second.frames = std::make_shared<const FrameOrder>(node.frames, page);
  return found->second;
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
  made->nodes_changed(view.has_memory);
  made->restart();
  std::string note = note_on_missing_memory(host, "tasks.objects", view.nodes, view.has_memory, *made);
  if (!note.empty() && std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
  try {
    objects_.emplace_back(params.name, params.size, page, *made, view.frames, pages_);
  } catch (const InputError& error) {
    if (view.without.empty()) throw;
    InputError::Detail detail = error.detail();
    detail.allowed +=
        "; '" + host + "' has no way to, or no extent of its own of, " + list_names(view.without);
    throw InputError(detail, error.path());
  }
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

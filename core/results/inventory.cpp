#include "results/inventory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coherence/common/coherence_home.hpp"
#include "component/io_roles.hpp"
#include "component/resource.hpp"
#include "device/kinds/parts.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory_owner.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

namespace {

// By their enumerations in resource.hpp.
constexpr std::array<std::string_view, 5> kStages{"requester", "cache", "way", "places", "media"};
constexpr std::array<std::string_view, 8> kOccupancies{"level", "share", "bandwidth", "rate",
                                                       "held",  "time",  "ratio",     "waiting"};
constexpr std::array<std::string_view, 6> kTraffic{"requests", "reads",    "writes",
                                                   "lines",    "messages", "bytes"};

template <class Enum, std::size_t kCount>
Value name_in(const std::array<std::string_view, kCount>& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

// "per_memory.*.queue_mean" of "mem" as the keys of a summary.
Value keys_of(const std::string& measure, const std::string& device) {
  Value::List keys;
  std::size_t begin = 0;
  while (begin <= measure.size()) {
    const std::size_t end = std::min(measure.find('.', begin), measure.size());
    const std::string key = measure.substr(begin, end - begin);
    keys.emplace_back(key == "*" ? device : key);
    begin = end + 1;
  }
  return keys;
}

Value optional_keys(const std::string& measure, const std::string& device) {
  return measure.empty() ? Value() : keys_of(measure, device);
}

Value::Map described(const Resource& resource, const std::string& owner, const std::string& device) {
  Value::List measures;
  for (const std::string& measure : resource.measures) measures.emplace_back(keys_of(measure, device));
  return {{"kind", resource.name},
          {"owner", owner},
          {"stage", name_in(kStages, resource.stage)},
          {"capacity", resource.capacity ? Value(*resource.capacity) : Value()},
          {"occupancy", name_in(kOccupancies, resource.occupancy)},
          {"measures", std::move(measures)},
          {"wait", std::string(kSegments[static_cast<std::size_t>(resource.wait)].name)},
          {"counts", name_in(kTraffic, resource.counts)},
          {"direction", resource.direction},
          {"twice_text", resource.twice_text},
          {"full_from", resource.full_from},
          {"each", optional_keys(resource.each, device)},
          {"remark", optional_keys(resource.remark, device)},
          {"remark_text", resource.remark_text}};
}

bool is_written(const Value& params, std::string_view place) {
  const Value* at = &params;
  for (std::size_t begin = 0; at && begin < place.size();) {
    const std::size_t end = std::min(place.find('.', begin), place.size());
    at = at->find(place.substr(begin, end - begin));
    begin = end + 1;
  }
  return at != nullptr;
}

// Where the parameters of parts stand in a spec.
class Parameters {
 public:
  Parameters(const Registry& registry, const Spec& spec) : registry_(registry), spec_(spec) {}

  const KindList::Entry& kind_of(std::size_t device) const {
    return registry_.devices.at(spec_.devices[device].kinded.kind);
  }
  /// The path of those of a part of a device, as far as its kind declares it; of several parts of a sort it
  /// must be the only one that is written, or there is no telling which one is meant. An empty part is the
  /// device.
  std::optional<std::string> place(std::size_t device, std::string_view part) {
    const KindSpec& kinded = spec_.devices[device].kinded;
    std::string own = "devices." + spec_.devices[device].name + ".";
    if (part.empty()) return own;
    std::vector<std::string> found;
    std::vector<std::string> written;
    for (const DevicePart& each : parts(kinded.kind)) {
      if (each.part != part) continue;
      const std::string at = own + (each.place.empty() ? "" : each.place + ".");
      found.push_back(at);
      if (is_written(kinded.params, each.place)) written.push_back(at);
    }
    if (found.size() > 1) found = std::move(written);
    if (found.size() != 1) return std::nullopt;
    return found.front();
  }

 private:
  const std::vector<DevicePart>& parts(const std::string& kind) {
    const auto [entry, is_new] = parts_.try_emplace(kind);
    if (is_new) entry->second = parts_of(registry_.devices.at(kind).info);
    return entry->second;
  }

  const Registry& registry_;
  const Spec& spec_;
  std::map<std::string, std::vector<DevicePart>> parts_;  // by kind
};

/// Holds what a plug-in says of its resources to what its kind declares. Tests hold our own kinds to it.
class DeclaredByPlugin {
 public:
  DeclaredByPlugin(const KindList::Entry& kind, const std::string& device) : kind_(kind), device_(device) {}

  void check(const Resource& resource) const {
    for (const std::string& path : resource.measures) {
      // In other groups a device has more than its kind declares.
      for (const std::string_view group : {"per_device.*.", "per_switch.*."}) {
        if (path.starts_with(group)) check_measure(resource, path.substr(group.size()));
      }
    }
    if (!resource.part.empty()) return;
    for (const auto& [path, value] : resource.twice) check_parameter(resource, path);
  }

 private:
  void check_measure(const Resource& resource, const std::string& path) const {
    std::vector<std::string> names;
    for (const MeasureInfo& measure : kind_.measures) names.emplace_back(measure.name);
    refuse_unknown(resource, "goes by a measure that its measures() does not have", path, names);
  }
  void check_parameter(const Resource& resource, const std::string& path) const {
    std::vector<std::string> names;
    for (const FieldInfo& field : kind_.info.fields) names.push_back(field.name);
    refuse_unknown(resource, "is doubled by a parameter that it does not have", path, names);
  }
  void refuse_unknown(const Resource& resource, const char* problem, const std::string& path,
                      const std::vector<std::string>& names) const {
    const std::string name = path.substr(0, path.find('.'));
    if (std::ranges::count(names, name) > 0) return;
    throw InputError(
        {"'" + resource.name + "' of the kind '" + kind_.kind + "' (plug-in " + kind_.plugin + ") " + problem,
         name, names.empty() ? "nothing: it has none" : list_names(names), nearest_name(name, names)},
        "devices." + device_);
  }

  const KindList::Entry& kind_;
  const std::string& device_;
};

class DeviceResources final : public ResourceSink {
 public:
  DeviceResources(const Component& device, std::size_t index, Parameters& parameters)
      : device_(device), index_(index), parameters_(parameters) {}

  void add(Resource resource) override {
    const std::string name = device_.name();
    const KindList::Entry& kind = parameters_.kind_of(index_);
    if (!kind.plugin.empty()) DeclaredByPlugin(kind, name).check(resource);
    const std::string_view part = resource.part;
    add(std::move(resource), parameters_.place(index_, part), {});
  }
  /// A resource of its work, whose keys are at that place. As many requests as there are twice of it need
  /// places in the queue.
  void add_of_work(Resource resource, const std::string& place, std::uint32_t queue) {
    const auto wanted = static_cast<std::uint64_t>(2 * resource.capacity.value_or(0));
    Value::Map more;
    if (const auto own = parameters_.place(index_, "requester"); own && wanted > queue)
      more.emplace_back(*own + "queue", number(wanted));
    add(std::move(resource), place, std::move(more));
  }
  Value::List take() { return std::move(found_); }

 private:
  void add(Resource resource, const std::optional<std::string>& at, Value::Map settings) {
    const std::string name = device_.name();
    Value::Map entry =
        described(resource, resource.direction.empty() ? name : name + ", " + resource.direction, name);
    if (at) {
      for (auto& [path, value] : resource.twice) settings.emplace_back(*at + path, std::move(value));
    }
    entry.emplace_back("twice", std::move(settings));
    found_.emplace_back(std::move(entry));
  }

  const Component& device_;
  std::size_t index_;
  Parameters& parameters_;
  Value::List found_;
};

/// Hands the resources of the work of a device to the list of the device.
class WorkResources final : public ResourceSink {
 public:
  WorkResources(const std::string& device, std::uint32_t queue, DeviceResources& sink)
      : place_("workload." + device + "."), queue_(queue), sink_(sink) {}
  void add(Resource resource) override { sink_.add_of_work(std::move(resource), place_, queue_); }

 private:
  std::string place_;
  std::uint32_t queue_;
  DeviceResources& sink_;
};

/// What of the work of a device can fill up: of a copy engine, which is made for that alone.
void add_work(const Registry& registry, const Spec& spec, const System& system, const Component& device,
              DeviceResources& resources) {
  const auto work = std::ranges::find(spec.workloads, device.name(), &Spec::Workload::device);
  const Requester* const requester = system.roles().of<Requester>(device.id());
  if (work == spec.workloads.end() || !requester || !work->params.pattern) return;
  const std::string& kind = *work->params.pattern;
  if (std::ranges::count(registry.patterns.at(kind).traits, "engine") == 0) return;
  const std::uint32_t queue = requester->traits().queue;
  PatternContext context{spec.run.seed, device.name(), false, &registry.patterns, queue};
  const auto stream = registry.patterns.make({kind, work->pattern}, context);
  WorkResources sink(device.name(), queue, resources);
  if (ReactiveStream* const reactive = stream->reactive()) reactive->resources(sink);
}

// A link is as slow as its slowest part, so that its ports are doubled with it.
Value::Map faster(const System::LinkView& link, const LinkEnd& end, const std::string& at,
                  Parameters& parameters) {
  const LinkParams& params = *link.params;
  Value::Map settings;
  if (params.phy && params.phy->lanes < 16) {
    Phy wider = *params.phy;
    wider.lanes *= 2;
    settings.emplace_back(at + ".phy", to_text(wider));
    return settings;
  }
  if (!params.bandwidth.rate.unlimited())
    settings.emplace_back(at + ".bandwidth", to_text(Bandwidth{twice(params.bandwidth.rate)}));
  if (params.reverse.bandwidth && !params.reverse.bandwidth->rate.unlimited() && &end == link.backward)
    settings.emplace_back(at + ".reverse.bandwidth",
                          to_text(Bandwidth{twice(params.reverse.bandwidth->rate)}));
  for (const LinkEnd* side : {link.forward, link.backward}) {
    const Component& device = side->owner();
    const Bandwidth port = device.port_bandwidth();
    if (port.rate.unlimited()) continue;
    if (const auto place = parameters.place(device.id().index(), "switch"))
      settings.emplace_back(*place + "port_bandwidth", to_text(Bandwidth{twice(port.rate)}));
  }
  return settings;
}

Value more_credits(const ClassCredits& credits) {
  Value::Map table;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto each = credits.of(static_cast<Channel>(i));
    if (!each) continue;
    if (credits.all_alike()) return number(2 * std::uint64_t{*each});
    table.emplace_back(std::string(kChannelNames[i]), number(2 * std::uint64_t{*each}));
  }
  return table;
}

std::string measure_of(const System::LinkView& link, const LinkEnd& end, const char* measure) {
  return "per_link." + link.name + "." + end.name() + "." + measure;
}

// What of a direction can fill up. A link of half duplex has one wire for both.
void add_direction(const System::LinkView& link, const LinkEnd& end, const std::string& at,
                   Parameters& parameters, Value::List& found) {
  const std::string way = link.way(end);
  if (!link.shared || &end == link.forward) {
    Resource wire{.name = "the wire",
                  .stage = Stage::kWay,
                  .capacity = end.unlimited() ? std::nullopt : std::optional(1.0),
                  .occupancy = Occupancy::kShare,
                  .measures = {measure_of(link, end, "utilization")},
                  .wait = Segment::kLinkQueue,
                  .counts = Traffic::kBytes,
                  .direction = link.shared ? "" : way,
                  .twice_text = "twice the bandwidth",
                  .full_from = 0.95};
    if (link.shared) wire.measures.push_back(measure_of(link, *link.backward, "utilization"));
    if (end.turns()) {
      wire.remark = measure_of(link, end, "turnaround");
      wire.remark_text = "in turnarounds";
      wire.measures.push_back(wire.remark);
    }
    Value::Map settings = faster(link, end, at, parameters);
    if (!settings.empty() && settings.front().first.ends_with(".phy"))
      wire.twice_text = std::to_string(2 * link.params->phy->lanes) + " lanes";
    Value::Map entry = described(wire, link.shared ? link.name : way, {});
    entry.emplace_back("twice", std::move(settings));
    found.emplace_back(std::move(entry));
  }
  if (!link.params->credits.any()) return;
  const Resource credits{.name = "the credits of the link",
                         .stage = Stage::kWay,
                         .capacity = 1,
                         .occupancy = Occupancy::kTime,
                         .measures = {measure_of(link, end, "credit_blocked_ns_by_class")},
                         .wait = Segment::kCredit,
                         .counts = Traffic::kMessages,
                         .direction = way,
                         .twice_text = "twice the credits",
                         .full_from = 0.9};
  Value::Map entry = described(credits, way, {});
  entry.emplace_back("twice", Value::Map{{at + ".credits", more_credits(link.params->credits)}});
  found.emplace_back(std::move(entry));
}

Value links_of(const System& system, const Spec& spec, bool with_resources, Parameters& parameters) {
  Value::List links;
  std::size_t next = 0;
  for (std::size_t index = 0; index < spec.links.size(); ++index) {
    const std::string at = indexed("links", index);
    for (std::uint32_t copy = 0; copy < spec.links[index].params->count; ++copy) {
      const System::LinkView& link = system.links()[next++];
      Value::Map entry{
          {"name", link.name},
          {"entry", number(index)},
          {"ends", Value::List{link.forward->owner().name(), link.backward->owner().name()}},
      };
      if (with_resources) {
        Value::List found;
        for (const LinkEnd* end : {link.forward, link.backward})
          add_direction(link, *end, at, parameters, found);
        entry.emplace_back("resources", std::move(found));
      }
      links.emplace_back(std::move(entry));
    }
  }
  return links;
}

Value::Map io_of(const IoInitiator& initiator) {
  Value data;
  if (const auto which = initiator.data()) data = *which == IoData::kOut ? "out" : "back";
  return {{"target", initiator.target()}, {"data", std::move(data)}};
}

}  // namespace

Value roles_of(const System& system, const Component& device) {
  const Roles& roles = system.roles();
  const NodeId node = device.id();
  Value::List found;
  if (roles.of<Requester>(node)) found.emplace_back("requester");
  const MemoryOwner* owner = roles.of<MemoryOwner>(node);
  if (owner && owner->memory_capacity() > Bytes{}) found.emplace_back("memory");
  if (roles.of<CoherenceHome>(node)) found.emplace_back("home");
  if (roles.of<IoInitiator>(node)) found.emplace_back("io-initiator");
  if (roles.of<SharedMedium>(node)) found.emplace_back("shared-medium");
  if (device.is_switch()) found.emplace_back("switch");
  return found;
}

Value inventory_of(const Registry& registry, const Spec& spec, bool with_resources) {
  Kernel kernel;
  System system = build_system(kernel, registry, spec);
  Parameters parameters(registry, spec);
  Value::List devices;
  for (std::size_t index = 0; index < system.components().size(); ++index) {
    const Component& device = *system.components()[index];
    const IoInitiator* const initiator = system.roles().of<IoInitiator>(device.id());
    Value::Map entry{{"name", device.name()},
                     {"kind", spec.devices[index].kinded.kind},
                     {"roles", roles_of(system, device)},
                     {"is_root", system.system_context().leads_upstream(device.id())},
                     {"io", initiator ? Value(io_of(*initiator)) : Value()}};
    if (with_resources) {
      DeviceResources resources(device, index, parameters);
      device.resources(resources);
      add_work(registry, spec, system, device, resources);
      entry.emplace_back("resources", resources.take());
    }
    devices.emplace_back(std::move(entry));
  }
  return Value::Map{{"devices", std::move(devices)},
                    {"links", links_of(system, spec, with_resources, parameters)},
                    {"detours", system.router().detours()}};
}

}  // namespace cxloom

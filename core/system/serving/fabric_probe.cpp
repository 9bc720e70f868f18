#include "system/serving/fabric_probe.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "base/measure.hpp"
#include "base/schema.hpp"
#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/transfer_engine.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request_observer.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/offered_memory.hpp"
#include "system/run/simulation.hpp"
#include "system/tasks/task_objects.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom {

namespace {

// Rates are measured in a window of it, or in a longer one where that is too short.
constexpr Time kWindow{20'000'000};
// Between two looks at whether it is there.
constexpr Time kSlice{2'000'000};
// A copy has no more bytes, which are enough for it not to end before.
constexpr std::uint64_t kMostBytes = 256ULL << 20U;
// An object has no fewer bytes, so that copies have room in it.
constexpr std::uint64_t kFewestBytes = 256ULL << 20U;

TraceFeed no_trace(const std::string& device) {
  throw InputError({"a fabric has no trace", "'" + device + "'", {}, {}});
}

/// Takes the share of the time in which the data bus of DRAM is busy.
class BusSink final : public MeasureSink {
 public:
  void add(const MeasureInfo& measure, double value) override {
    if (measure.name == "data_bus_utilization") share = value;
  }
  void count(const MeasureInfo& /*measure*/, std::uint64_t /*value*/) override {}
  void give(const MeasureInfo& /*measure*/, Value /*value*/) override {}

  double share = 0;
};

/// Errors that are good enough after so much time: where rates scatter, half of it takes four times as long.
constexpr std::array<std::pair<Time, double>, 3> kGoodEnough{
    {{Time{80'000'000}, 0.02}, {Time{160'000'000}, 0.05}, {Time{600'000'000}, 0.1}}};

/// The window of a whole set; null: it is not there yet.
const RateWindow* window_of(const TaskPlayer& player, std::size_t flows, Time now) {
  for (const auto& [key, window] : player.sampler().windows()) {
    if (window.sorts.size() == flows) return &window;
  }
  const RateWindow& uncertain = player.sampler().uncertain();
  if (uncertain.rates.size() != flows) return nullptr;
  const bool is_good = std::ranges::any_of(
      kGoodEnough, [&](const auto& each) { return now >= each.first && uncertain.error <= each.second; });
  return is_good ? &uncertain : nullptr;
}

void refuse(bool is_there, const char* key) {
  if (!is_there) return;
  throw InputError({"the blocks of a KV cache are all that moves over a fabric",
                    {},
                    "a spec without this section",
                    {},
                    InputError::Kind::kBetween},
                   key);
}

std::vector<std::string> engines_of(const System& system) {
  std::vector<std::string> names;
  for (const auto& [component, engine] : system.roles().all<TransferEngine>())
    names.push_back(component->name());
  return names;
}

std::vector<std::string> memories_of(const System& system) {
  std::vector<std::string> names;
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    if (owner->memory_capacity() > Bytes{}) names.push_back(component->name());
  }
  return names;
}

void check_name(const std::string& name, const std::vector<std::string>& known, const char* what,
                const std::string& key) {
  if (std::ranges::find(known, name) != known.end()) return;
  throw InputError(
      {"'" + name + "' is no " + what + " of the fabric",
       {},
       known.empty() ? std::string("a device of such a kind, of which there is none") : list_names(known),
       nearest_name(name, known)},
      key);
}

InputError no_access(const std::string& device, const std::string& tier, std::size_t number) {
  return InputError({"'" + device + "' has no access to all of the tier '" + tier +
                         "': memory answers some of its lines without data",
                     {},
                     "memories of which the device or its host has all: not what a virtual switch binds to "
                     "another host, nor a logical device or an extent of another",
                     {},
                     InputError::Kind::kBetween},
                    indexed("tiers", number) + ".devices");
}

/// A device has a way to the memory, or to a logical device of it.
bool reaches(const System& system, const std::string& from, const std::string& memory) {
  const NodeId node = system.component(from).id();
  return std::ranges::any_of(system.address_map_of(node).parts(), [&](const AddressMap::Part& part) {
    return std::ranges::any_of(part.memories, [&](const MemoryTargetInfo& each) {
      return each.name == memory && has_way(system, node, each);
    });
  });
}

}  // namespace

FabricProbe::FabricProbe(const Registry& registry, const ServingParams& params,
                         const std::vector<std::uint64_t>& tier_bytes)
    : registry_(registry), engines_(params.servers.devices) {
  std::uint32_t place = 0;
  for (const KvTierParams& tier : params.tiers) {
    tiers_.push_back(tier.name);
    shared_.push_back(tier.shared);
    places_.push_back(place);
    if (!tier.devices.empty()) place += 2;
  }
  read(params);
  check_servers(params);
  place_objects(params, tier_bytes);
}

void FabricProbe::read(const ServingParams& params) {
  spec_ = with_path("fabric", [&] { return Spec::read(params.fabric, registry_); });
  refuse(!spec_.workloads.empty(), "fabric.workload");
  refuse(!spec_.tasks.empty(), "fabric.tasks");
  refuse(!spec_.events.empty(), "fabric.events");
}

void FabricProbe::check_others(const System& system) {
  for (const auto& [component, initiator] : system.roles().all<IoInitiator>()) {
    throw InputError({"the blocks of a KV cache are all that moves over a fabric, and '" + component->name() +
                          "' makes packets of CXL.io",
                      {},
                      "a fabric without it",
                      {},
                      InputError::Kind::kBetween},
                     "fabric.devices." + component->name());
  }
}

// Which of several ways a message takes may hang on the numbers of devices.
bool FabricProbe::has_several_ways(const System& system) {
  const auto nodes = static_cast<std::uint32_t>(system.components().size());
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from != to && system.routes().next_hops(from, to).size() > 1) return true;
    }
  }
  return false;
}

void FabricProbe::check_servers(const ServingParams& params) {
  Kernel kernel;
  const System system = with_path("fabric", [&] { return build_system(kernel, registry_, spec_); });
  const std::size_t count = params.servers.count;
  if (engines_.size() < count) {
    throw InputError({"fewer devices than servers",
                      counted(engines_.size(), "device"),
                      "the device of each of " + counted(count, "server") + ", such as a gpu",
                      {}},
                     "servers.devices");
  }
  most_ = kMostBytes;
  std::uint32_t streams = 0;
  for (const KvTierParams& tier : params.tiers) streams += tier.devices.empty() ? 0 : 2;
  for (std::size_t i = 0; i < count; ++i) {
    check_name(engines_[i], engines_of(system), "device with a DMA engine",
               "servers." + indexed("devices", i));
    const auto* engine = system.roles().of<TransferEngine>(system.component(engines_[i]).id());
    most_ = std::min(most_, engine->memory().count());
    if (engine->streams() >= streams) continue;
    throw InputError({"a stream of '" + engines_[i] + "' moves blocks of one tier in one direction",
                      counted(engine->streams(), "stream"),
                      std::to_string(streams) + " or more",
                      {},
                      InputError::Kind::kBetween},
                     "fabric.devices." + engines_[i] + ".streams");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto before = std::span(engines_).first(i);
    if (std::ranges::find(before, engines_[i]) == before.end()) continue;
    throw InputError({"a device of two servers", "'" + engines_[i] + "'", "a device for each server", {}},
                     "servers." + indexed("devices", i));
  }
  check_others(system);
  ways_differ_ = !spec_.run.routes.empty() || has_several_ways(system);
  const std::vector<std::string> memories = memories_of(system);
  for (std::size_t tier = 0; tier < params.tiers.size(); ++tier) {
    const auto& devices = params.tiers[tier].devices;
    const std::string key = indexed("tiers", tier) + ".devices";
    for (std::size_t i = 0; i < devices.size(); ++i)
      check_name(devices[i], memories, "memory", key + "[" + std::to_string(i) + "]");
    if (params.tiers[tier].shared || devices.size() <= 1 || devices.size() >= count) continue;
    throw InputError({"fewer memories than servers, each of which has a tier of its own",
                      std::to_string(devices.size()),
                      "one for each of " + counted(count, "server") + ", or one for all",
                      {}},
                     key);
  }
  for (const System::LinkView& link : system.links()) {
    for (const LinkEnd* end : {link.forward, link.backward})
      parts_.push_back({"link " + link.way(*end), end->owner().name(), end->receiver().name()});
  }
  link_parts_ = parts_.size();
  for (const std::string& memory : memories) parts_.push_back({"memory " + memory, memory, {}});
}

// A tier that is small has larger objects where there is room, so that copies do not end too soon.
void FabricProbe::place_objects(const ServingParams& params, const std::vector<std::uint64_t>& tier_bytes) {
  Kernel kernel;
  const System system = build_system(kernel, registry_, spec_);
  for (std::uint32_t tier = 0; tier < params.tiers.size(); ++tier) {
    const std::size_t before = spec_.tasks.objects.size();
    try {
      place_tier(system, params, tier, std::max(tier_bytes[tier], kFewestBytes));
    } catch (const InputError&) {
      if (tier_bytes[tier] >= kFewestBytes) throw;
      spec_.tasks.objects.resize(before);
      sizes_.resize(tier);
      place_tier(system, params, tier, tier_bytes[tier]);
    }
  }
}

void FabricProbe::place_tier(const System& system, const ServingParams& params, std::uint32_t tier,
                             std::uint64_t bytes) {
  const std::uint64_t page = spec_.tasks.page.count();
  const KvTierParams& about = params.tiers[tier];
  sizes_.push_back((bytes + page - 1) / page * page);
  if (about.devices.empty()) return;
  for (std::uint32_t server = 0; server < (about.shared ? 1 : params.servers.count); ++server) {
    std::vector<std::string> devices = about.devices;
    if (!about.shared && devices.size() > 1) devices = {devices[server]};
    Value::List nodes(devices.begin(), devices.end());
    TaskObjectParams object{.name = object_of({server, tier, false}), .size = Bytes{sizes_[tier]}};
    object.addresses = {devices.size() > 1 ? "interleave" : "bind", Value::Map{{"nodes", std::move(nodes)}}};
    object.host = seen_from(system, engines_[server]);
    for (const std::string& device : devices) {
      if (!reaches(system, *object.host, device)) throw no_access(engines_[server], about.name, tier);
    }
    spec_.tasks.objects.push_back(std::move(object));
    try {
      TaskObjects(registry_, spec_, system);
    } catch (const InputError& error) {
      const bool too_large = error.path().ends_with(".size");
      throw InputError(error.detail(), indexed("tiers", tier) + (too_large ? ".capacity" : ".devices"));
    }
  }
}

// What a DMA engine without peers may access is what its host may.
std::string FabricProbe::seen_from(const System& system, const std::string& device) {
  TransferEngine& engine = *system.roles().of<TransferEngine>(system.component(device).id());
  const DmaInitiator* const dma = engine.dma();
  if (!dma || !dma->peer_nodes().empty()) return device;
  return system.topology().node(dma->host_node().index()).name;
}

std::string FabricProbe::object_of(const FabricFlow& flow) const {
  return shared_[flow.tier] ? "tier " + tiers_[flow.tier]
                            : "tier " + tiers_[flow.tier] + " of server " + std::to_string(flow.server);
}

Spec FabricProbe::with_copies(const std::vector<FabricFlow>& flows, std::uint64_t most, bool exact) const {
  Spec spec = spec_;
  spec.tasks.exact = exact;
  spec.tasks.window = kWindow;
  const std::uint64_t page = spec.tasks.page.count();
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const FabricFlow& flow = flows[i];
    const std::uint64_t half = sizes_[flow.tier] / 2;
    // Servers are in different parts of a tier, of which all begin in its first half.
    const std::uint64_t number = std::uint64_t{flow.server} * 2 + (flow.write ? 1 : 0);
    TaskParams copy;
    copy.name = "move " + std::to_string(i);
    copy.kind = TaskKind::kCopy;
    copy.stream = places_[flow.tier] + (flow.write ? 1 : 0);
    copy.from = flow.write ? engines_[flow.server] : object_of(flow);
    copy.to = flow.write ? object_of(flow) : engines_[flow.server];
    copy.offset = Bytes{half / (2 * engines_.size()) * number / page * page};
    copy.bytes = Bytes{std::min({most, most_, half})};
    spec.tasks.graph.push_back(std::move(copy));
  }
  return spec;
}

FabricRates FabricProbe::measure(const std::vector<FabricFlow>& flows) const {
  NullObserver nobody;
  const auto made = simulation_of(flows, most_, false, nobody);
  Simulation& simulation = *made;
  std::vector<Snapshot> snapshots;
  FabricRates found;
  for (Time until = kSlice;; until += kSlice) {
    const bool over = simulation.advance(until, ~std::uint64_t{0});
    snapshots.push_back(snapshot(simulation));
    if (const RateWindow* window = window_of(*simulation.tasks(), flows.size(), until)) {
      // In the order in which the copies began, which is that of the flows.
      for (const double lines : window->rates)
        found.rates.push_back(lines * static_cast<double>(kLineBytes) * 1e12);
      found.error = window->error;
      break;
    }
    check_whole(flows, simulation);
    if (over) fail(flows, "they end before their rates are steady");
  }
  add_shares(simulation, snapshots, found);
  return found;
}

FabricProbe::Snapshot FabricProbe::snapshot(Simulation& simulation) const {
  Snapshot now{simulation.now(), {}};
  for (const System::LinkView& link : simulation.system().links()) {
    for (LinkEnd* end : {link.forward, link.backward}) {
      end->catch_up(now.at);
      now.busy.push_back(end->monitor().totals(now.at).busy);
    }
  }
  return now;
}

// In the second half of what was simulated, behind launches and the first lines.
void FabricProbe::add_shares(Simulation& simulation, const std::vector<Snapshot>& snapshots,
                             FabricRates& found) const {
  const Snapshot& middle = snapshots[snapshots.size() / 2];
  const Snapshot& last = snapshots.back();
  const double length = (last.at - middle.at).ns();
  double late = 0;
  double all = 0;
  for (std::size_t i = 0; i < link_parts_; ++i) {
    found.shares.push_back(length > 0 ? (last.busy[i] - middle.busy[i]).ns() / length : 0);
    late += found.shares.back();
    all += last.busy[i].ns() / std::max(last.at.ns(), 1.0);
  }
  simulation.stop("measured");
  for (const auto& [component, owner] : simulation.system().roles().all<MemoryOwner>()) {
    if (owner->memory_capacity() == Bytes{}) continue;
    BusSink bus;
    owner->report_memory(bus);
    // Its window is the whole, in which it was idle at first as links were.
    found.shares.push_back(std::min(1.0, all > 0 ? bus.share * late / all : bus.share));
  }
}

Time FabricProbe::time_alone(const FabricFlow& flow, std::uint64_t bytes) const {
  NullObserver nobody;
  const auto simulation = simulation_of({flow}, bytes, true, nobody);
  while (!simulation->advance(Time::max(), ~std::uint64_t{0})) {
  }
  check_whole({flow}, *simulation);
  const TaskPlayer::Record& record = simulation->tasks()->records().front();
  return record.end - record.start;
}

std::unique_ptr<Simulation> FabricProbe::simulation_of(const std::vector<FabricFlow>& flows,
                                                       std::uint64_t most, bool exact,
                                                       RequestObserver& observer) const {
  try {
    return std::make_unique<Simulation>(registry_, with_copies(flows, most, exact), no_trace, observer);
  } catch (const InputError& error) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (error.path().starts_with("tasks." + indexed("graph", i)))
        throw InputError(error.detail(), "servers." + indexed("devices", flows[i].server));
    }
    throw InputError(error.detail(), "fabric." + error.path());
  }
}

void FabricProbe::check_whole(const std::vector<FabricFlow>& flows, const Simulation& simulation) const {
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (!simulation.tasks()->records()[i].failed) continue;
    throw no_access(engines_[flows[i].server], tiers_[flows[i].tier], flows[i].tier);
  }
}

void FabricProbe::fail(const std::vector<FabricFlow>& flows, const std::string& why) const {
  std::string names;
  for (const FabricFlow& flow : flows) {
    names += (names.empty() ? "" : ", ") + engines_[flow.server] + (flow.write ? " to " : " from ") +
             tiers_[flow.tier];
  }
  throw SimulationError("the moves of " + names + " over the fabric cannot be measured: " + why);
}

}  // namespace cxloom

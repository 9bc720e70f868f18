#include "system/run/thread_division.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernel/kernel.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/balanced_cut.hpp"
#include "system/model/partitions.hpp"
#include "system/model/system.hpp"
#include "system/run/expected_traffic.hpp"
#include "system/spec/spec.hpp"
#include "system/work/share_groups.hpp"

namespace cxloom {

namespace {

/// Why a spec is played in one thread; empty: it need not be.
std::string undivided_because(const Registry& registry, const Spec& spec) {
  if (spec.outputs.sharing) return "outputs.sharing follows stores through all devices";
  if (!registry.plugins.empty()) return "plug-ins are loaded, which may share what threads must not";
  for (const Spec::Workload& workload : spec.workloads) {
    if (shares(workload)) return "'" + workload.device + "' shares memory by a protocol";
  }
  return {};
}

std::string undivided_because(const System& system) {
  if (system.system_context().replicas) return "hosts agree on which copies of a replicated region are whole";
  return {};
}

/// A device stays with the switch that it hangs on.
bool hangs_on(const System& system, std::uint32_t a, std::uint32_t b) {
  const Topology& topology = system.topology();
  const auto hangs = [&](std::uint32_t leaf, std::uint32_t on) {
    return !topology.node(leaf).forwards && topology.node(on).forwards && topology.hops(leaf)[0].to == on;
  };
  return hangs(a, b) || hangs(b, a);
}

/// Why a system cannot be divided of which all devices are in one part.
constexpr std::string_view kOneGroup = "all devices hang on one switch, or share a wire";

/// By link, those by which a device hangs on its switch among those that are not cut.
std::vector<Partitions::Joint> joints_between_switches(const System& system) {
  std::vector<Partitions::Joint> joints = joints_of(system);
  for (Partitions::Joint& joint : joints) {
    if (hangs_on(system, joint.a, joint.b)) joint.soonest = Time{};
  }
  return joints;
}

ThreadDivision one_part(const Spec& spec, std::string reason) {
  ThreadDivision division;
  division.part_of.assign(spec.devices.size(), 0);
  division.reason = std::move(reason);
  return division;
}

ThreadDivision of(const Partitions& partitions) {
  ThreadDivision division;
  division.part_of = partitions.of_node;
  division.parts = partitions.count;
  division.lookahead = partitions.lookahead.value_or(Time{});
  return division;
}

}  // namespace

ThreadDivision divide_system(const Registry& registry, const Spec& spec, std::uint32_t threads) {
  if (std::string reason = undivided_because(registry, spec); !reason.empty()) return one_part(spec, reason);
  Kernel kernel;
  const System system = build_system_to_look_at(kernel, registry, spec);
  if (std::string reason = undivided_because(system); !reason.empty()) return one_part(spec, reason);
  const std::vector<Partitions::Joint> joints = joints_between_switches(system);
  const Partitions whole = divide(system.components().size(), joints);
  if (whole.count < 2) return one_part(spec, std::string(kOneGroup));
  const ExpectedTraffic traffic = expected_traffic(system, spec);
  const std::vector<std::uint32_t> part_of_group =
      balanced_cut(whole, joints, traffic.of_node, traffic.of_link, threads);
  Partitions cut = whole;
  cut.lookahead.reset();
  cut.count = 0;
  for (std::uint32_t& node : cut.of_node) {
    node = part_of_group[node];
    cut.count = std::max(cut.count, node + 1);
  }
  for (const Partitions::Joint& joint : joints) {
    if (cut.of_node[joint.a] != cut.of_node[joint.b])
      cut.lookahead = std::min(cut.lookahead.value_or(Time::max()), joint.soonest);
  }
  if (cut.count < 2 || !cut.lookahead) return one_part(spec, "nothing goes between its parts");
  ThreadDivision division = of(cut);
  division.threads = division.parts;
  if (division.parts < threads)
    division.reason = "there are " + std::to_string(whole.count) + " groups of devices to divide";
  return division;
}

Divisible divisible(const Registry& registry, const Spec& spec, const System& system) {
  std::string reason = undivided_because(registry, spec);
  if (reason.empty()) reason = undivided_because(system);
  if (!reason.empty()) return {.reason = std::move(reason)};
  const Partitions whole = divide(system.components().size(), joints_between_switches(system));
  if (whole.count < 2) return {.reason = std::string(kOneGroup)};
  return {.parts = whole.count, .lookahead = whole.lookahead, .reason = {}};
}

ThreadDivision divide_most(const Registry& registry, const Spec& spec) {
  if (std::string reason = undivided_because(registry, spec); !reason.empty()) return one_part(spec, reason);
  Kernel kernel;
  const System system = build_system_to_look_at(kernel, registry, spec);
  if (std::string reason = undivided_because(system); !reason.empty()) return one_part(spec, reason);
  const Partitions most = partitions_of(system);
  if (!most.lookahead) return one_part(spec, "no link takes time");
  ThreadDivision division = of(most);
  division.fewest_events = 0;
  return division;
}

}  // namespace cxloom

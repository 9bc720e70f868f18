#include "system/crash/power_loss.hpp"

#include <map>
#include <set>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/line_versions.hpp"
#include "device/switch/persist_domain.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

using LostByLine = std::map<std::uint64_t, LostLine>;

/// Adds what is lost if these lines are left so, and of all others what memory has.
void judge(const LineVersions& versions, const LineContents& contents, LostByLine& lost) {
  const auto look = [&](std::uint64_t number, std::uint32_t version) {
    const LineAddress line{number};
    const BrokenRule rule = versions.broken_by(line, version);
    if (rule != BrokenRule::kNone)
      lost.try_emplace(number, LostLine{line, version, versions.needed_beside(line, version), rule});
  };
  for (const auto& [line, version] : contents) look(line, version);
  for (const std::uint64_t line : versions.behind()) {
    if (!contents.contains(line)) look(line, versions.in_memory(LineAddress{line}));
  }
}

std::vector<LostLine> in_order(const LostByLine& lost) {
  std::vector<LostLine> lines;
  for (const auto& [number, line] : lost) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<LostLine> lost_at_power_loss(const System& system, const RecoveryOrder& order,
                                         std::optional<NodeId> lost) {
  LostByLine lines;
  const DurableState left = durable_state(system, order, lost);
  judge(*system.versions(), contents_after(left), lines);
  return in_order(lines);
}

NodeId switch_with_buffer(const System& system, const std::string& name) {
  const NodeId node = system.component(name).id();
  if (system.roles().of<PersistDomain>(node)) return node;
  std::string allowed;
  for (const auto& [component, buffer] : system.roles().all<PersistDomain>())
    allowed += (allowed.empty() ? "" : ", ") + component->name();
  throw InputError({"'" + name + "' has no persist buffer that could be lost",
                    {},
                    allowed.empty() ? "a system with a persist buffer" : "one of " + allowed,
                    {}},
                   "--lose");
}

PowerLossFound PowerLoss::at(const System& system, const CutChoice& cuts, std::optional<NodeId> lost) {
  const DurableState left = durable_state(system, recovery_.order(), lost);
  PowerLossFound found;
  found.recovery = cuts_.ends_of(left, cuts);
  found.one_end = found.recovery.contents == std::set<LineContents>{contents_after(left)};
  LostByLine lines;
  for (const LineContents& contents : found.recovery.contents) judge(*system.versions(), contents, lines);
  found.lost = in_order(lines);
  return found;
}

}  // namespace cxloom

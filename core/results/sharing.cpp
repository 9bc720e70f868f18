#include "results/sharing.hpp"

#include <string>
#include <utility>

#include "component/component.hpp"
#include "system/model/system.hpp"

namespace cxloom {

std::optional<Value> sharing_of(const System& system) {
  const SharedLines* const shared = system.shared_lines();
  if (!shared) return std::nullopt;
  SharingSummary summary{shared->measured()};
  const auto lines = shared->lines();
  summary.lines = lines.size();
  Value::Map per_line;
  for (std::size_t i = 0; i < lines.size() && i < kMostSharedLines; ++i)
    per_line.emplace_back(to_text(lines[i].line.address()), map_of(kSharingMeasures, lines[i].counts));
  Value::Map per_pair;
  const auto name = [&](NodeId node) { return system.components()[node.index()]->name(); };
  for (const auto& [pair, counts] : shared->pairs())
    per_pair.emplace_back(name(pair.requester) + " from " + name(pair.writer),
                          map_of(kSharingMeasures, counts));
  summary.per_line = std::move(per_line);
  summary.per_pair = std::move(per_pair);
  return map_of(kSharingSummaryMeasures, summary);
}

}  // namespace cxloom

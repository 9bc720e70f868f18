#include "workload/tiering/tiering_policy.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "workload/tiering/autonuma.hpp"
#include "workload/tiering/hemem.hpp"
#include "workload/tiering/hot_pages.hpp"
#include "workload/tiering/memory_tiering.hpp"
#include "workload/tiering/oracle.hpp"
#include "workload/tiering/promote_on_fault.hpp"
#include "workload/tiering/tpp.hpp"

namespace cxloom {

namespace {

/// "near, mid and far": what there is, all of it.
std::string all_names(std::span<const NumaNode> nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += nodes[i].name();
  }
  return text;
}

}  // namespace

void refuse_above(const char* key, Bytes bytes, Bytes by_default, std::span<const NumaNode> nodes,
                  const TieringContext& context) {
  std::uint64_t pages = 0;
  for (const NumaNode& node : nodes) pages += count_of(node.frames);
  const Bytes most{pages * context.page.count()};
  if (bytes <= most) return;
  throw InputError({"more than there is",
                    to_text(bytes) + (bytes == by_default ? ", the default" : ""),
                    "at most " + to_text(most) + ", which " + all_names(nodes) +
                        (nodes.size() == 1 ? " has" : " have together"),
                    {},
                    InputError::Kind::kBetween},
                   key);
}

void refuse_equally_near(const TieringContext& context) {
  const std::span<const NumaNode> nodes = context.nodes;
  if (nodes.empty() || std::ranges::any_of(nodes, [&](const NumaNode& each) {
        return each.distance != nodes.front().distance;
      }))
    return;
  throw InputError(
      {"no node is nearer than another, so that no page has a nearer one to go to",
       all_names(nodes) + (nodes.size() == 1 ? ", " : ", each ") + to_text(nodes.front().distance) + " away",
       "nodes of different distance: a delay of a link, or a switch between",
       {},
       InputError::Kind::kBetween});
}

void register_tiering(TieringRegistry& registry) {
  registry.add<PromoteOnFault>("promote-on-fault");
  registry.add<HotPages>("hot-pages");
  registry.add<AutoNuma>("autonuma");
  registry.add<MemoryTiering>("memory-tiering");
  registry.add<Tpp>("tpp");
  registry.add<HeMem>("hemem");
  registry.add<Oracle>("oracle");
}

}  // namespace cxloom

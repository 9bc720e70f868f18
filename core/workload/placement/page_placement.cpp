#include "workload/placement/page_placement.hpp"

#include "base/schema.hpp"
#include "workload/placement/bind.hpp"
#include "workload/placement/first_touch.hpp"
#include "workload/placement/interleave.hpp"
#include "workload/placement/preferred.hpp"
#include "workload/placement/ranges.hpp"

namespace cxloom {

namespace {

struct AsIsParams {
  static void describe(Schema<AsIsParams>& schema) {
    schema.doc("Addresses are physical: nothing is placed.");
  }
};

}  // namespace

void register_placements(PlacementRegistry& registry) {
  registry.add_factory<AsIsParams>(
      "as-is", [](const AsIsParams&, PlacementContext&) { return std::unique_ptr<PagePlacement>(); });
  registry.add<FirstTouchPlacement>("first-touch");
  registry.add<BindPlacement>("bind");
  registry.add<PreferredPlacement>("preferred");
  registry.add<InterleavePlacement>("interleave");
  registry.add<RangesPlacement>("ranges");
}

}  // namespace cxloom

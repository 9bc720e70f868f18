#include "tags/prefetcher.hpp"

#include <memory>

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "tags/prefetch_best_offset.hpp"
#include "tags/prefetch_leap.hpp"
#include "tags/prefetch_next_line.hpp"
#include "tags/prefetch_streamer.hpp"
#include "tags/prefetch_stride.hpp"

namespace cxloom {

namespace {

struct NoPrefetcherParams {
  static void describe(Schema<NoPrefetcherParams>& schema) {
    schema.doc("Lines are asked for by accesses alone.");
  }
};

}  // namespace

void register_prefetchers(PrefetcherRegistry& registry) {
  registry.add_factory<NoPrefetcherParams>(
      "none", [](const NoPrefetcherParams&, PrefetcherContext&) { return std::unique_ptr<Prefetcher>(); });
  registry.add<NextLinePrefetcher>("next-line");
  registry.add<StridePrefetcher>("stride");
  registry.add<StreamerPrefetcher>("streamer");
  registry.add<BestOffsetPrefetcher>("best-offset");
  registry.add<LeapPrefetcher>("leap");
}

}  // namespace cxloom

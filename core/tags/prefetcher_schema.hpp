// The declaration of what all prefetchers have in common.
#pragma once

#include "base/schema.hpp"
#include "tags/prefetcher.hpp"

namespace cxloom {

/// Declares what every prefetcher has in the schema of a struct that derives from PrefetcherParams.
template <class Params>
void describe_prefetcher(Schema<Params>& schema) {
  schema.field("registers", &Params::registers)
      .min(1)
      .max(1U << 16U)
      .doc(
          "Lines that may be on their way ahead of their use at the same time. A prediction beyond that is "
          "dropped; of a core's own caches it waits.")
      .source("own choice: the fill buffers of a first-level cache of today");
  schema.field("page", &Params::page)
      .min(Bytes{2 * kLineBytes})
      .max(Bytes{std::uint64_t{1} << 40U})
      .doc("No line is asked for outside the page of the access that it was predicted from.")
      .source("own choice: pages of 4 KiB, whose neighbours in memory may be anybody's");
  schema.rule("page must be a multiple of 64 B",
              [](const Params& params) { return params.page.count() % kLineBytes == 0; });
}

}  // namespace cxloom

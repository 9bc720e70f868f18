// The declaration of what all caches have in common.
#pragma once

#include "base/schema.hpp"
#include "tags/cache_params.hpp"

namespace cxloom {

/// Declares what a cache holds, and which line leaves.
template <class Params>
void describe_lines(Schema<Params>& schema) {
  // Slots have 32 bits, and the sentinels of the sets count too.
  constexpr Bytes kLargest{std::uint64_t{64} << 30U};
  schema.field("size", &Params::size)
      .doc(
          "Bytes of data it holds; a multiple of ways x 64 B, and the number of sets need not be a power of "
          "two.")
      .min(Bytes{kLineBytes})
      .max(kLargest);
  schema.field("ways", &Params::ways).doc("Lines in a set; 0 means fully associative.");
  schema.field("policy", &Params::policy)
      .category("victims")
      .doc("Which line leaves a full set. Only with two ways or more: of one line there is no choice.");
  schema.rule("size must be a multiple of ways x 64 B", [](const Params& params) {
    const std::uint64_t set_bytes = (params.ways == 0 ? 1 : std::uint64_t{params.ways}) * kLineBytes;
    return params.size.count() % set_bytes == 0;
  });
  schema.effective(
      "policy", [](const Params& params) { return params.ways == 0 ? params.lines() > 1 : params.ways > 1; },
      "unless a set has two lines to choose from: set ways: 2 or more");
}

/// Declares the parameters of a cache in the schema of a struct that derives from them.
template <class Params>
void describe_cache(Schema<Params>& schema) {
  describe_lines(schema);
  schema.field("access_time", &Params::access_time)
      .doc("Time of one look-up, hit or miss.")
      .source("ESF, Table III (cache access)")
      .min(Time{0});
}

}  // namespace cxloom

#include "tags/cache_params.hpp"

#include "base/memory_estimate.hpp"
#include "tags/cache_array.hpp"
#include "tags/cache_schema.hpp"

namespace cxloom {

void CacheParams::describe(Schema<CacheParams>& schema) {
  schema.doc("A cache of 64-byte lines. What it holds is exact; it takes one fixed time to look up.");
  describe_cache(schema);
}

void CacheParams::estimate(const CacheParams& params, MemoryEstimate& memory) {
  memory.add("size", to_text(params.size), 1, CacheArray::bytes(params.lines(), params.ways));
}

}  // namespace cxloom

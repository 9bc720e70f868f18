#include "coherence/cache/params.hpp"

#include <string>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"
#include "tags/cache_schema.hpp"

namespace cxloom {

void CacheLevelParams::describe(Schema<CacheLevelParams>& schema) {
  schema.doc("A level of a cache behind the first.");
  describe_cache(schema);
  schema.field("inclusive", &CacheLevelParams::inclusive)
      .doc(
          "Whether what leaves this level leaves the nearer ones, too. If not, each level chooses its "
          "victims alone.");
}

void CacheAgentParams::estimate(const CacheAgentParams& params, MemoryEstimate& memory) {
  CacheParams::estimate(params, memory);
  // The table of lines that came ahead of their use: two cells for each line, as it is half full.
  if (params.prefetch.kind != "none") {
    std::uint64_t lines = params.lines();
    for (const CacheLevelParams& level : params.levels) lines += level.lines();
    memory.add("prefetch", params.prefetch.kind, lines, 32);
  }
  for (std::size_t i = 0; i < params.levels.size(); ++i) {
    memory.add_below("levels[" + std::to_string(i) + "]",
                     [&](MemoryEstimate& inside) { CacheParams::estimate(params.levels[i], inside); });
  }
}

void CacheAgentParams::describe(Schema<CacheAgentParams>& schema) {
  schema.doc("The cache of a host or accelerator, of 64-byte lines.");
  describe_cache(schema);
  schema.field("levels", &CacheAgentParams::levels)
      .default_text("none")
      .doc(
          "Further levels behind this one, nearest first. A lookup goes through them one after the other and "
          "takes their access times; a line that is found comes into all nearer ones.");
  schema.field("fill_time", &CacheAgentParams::fill_time)
      .doc("Time that the cache is busy with taking in a line: accesses that come meanwhile wait.");
  schema.field("clear_time", &CacheAgentParams::clear_time)
      .doc(
          "Time that the cache is busy with clearing a line that a snoop takes away: accesses that come "
          "meanwhile wait, and the snoop is answered after it.")
      .source("ESF, section V-C: clearing several lines takes time of the requester's cache");
  schema.field("mshrs", &CacheAgentParams::mshrs)
      .min(1)
      .max(1U << 24U)
      .default_text("as many as the requester's queue needs")
      .doc("Miss status holding registers: lines that may be asked for at the same time.");
  schema.field("write_allocate", &CacheAgentParams::write_allocate)
      .doc("Whether a write that misses fetches the line; if not, it goes on to memory.");
  schema
      .choice("clean_evictions", &CacheAgentParams::clean_evictions,
              {{"silent", CleanEvictions::kSilent}, {"notified", CleanEvictions::kNotified}})
      .doc(
          "Whether the home of a coherent line hears of a clean line that leaves the cache. If not, its "
          "snoop filter keeps the line, and may snoop for it in vain.")
      .source("CXL 3.x: MemClnEvct; CleanEvict of CXL.cache");
  schema
      .choice("read_state", &CacheAgentParams::read_state,
              {{"any", ReadState::kAny}, {"shared", ReadState::kShared}})
      .doc(
          "What a read asks for of a coherent line that nobody else holds. any: to have it alone, so that a "
          "later write needs no message. shared: a shared copy.")
      .source("CXL 3.x: MemRdData, MemRd with SnpData; RdAny and RdShared of CXL.cache");
  schema.field("atomic_time", &CacheAgentParams::atomic_time)
      .doc(
          "Time of an atomic operation in the cache, behind the lookup: the line stays until its end, and "
          "who else wants it waits.")
      .source("own choice: some 20 clocks at 4 GHz");
  schema.field("prefetch", &CacheAgentParams::prefetch)
      .category("prefetchers")
      .doc("Which lines the cache asks for ahead of their use.");
}

}  // namespace cxloom

#include "device/requester/core_params.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/schema.hpp"
#include "component/resource.hpp"
#include "tags/cache_schema.hpp"
#include "tags/core_prefetchers.hpp"

namespace cxloom {

std::vector<CoreCacheParams> CoreParams::default_caches() {
  return {{}, {.size = Bytes{2 * 1024 * 1024}, .ways = 16, .cycles = 15}};
}

void CoreCacheParams::describe(Schema<CoreCacheParams>& schema) {
  schema.doc("A write-back, write-allocate cache that a core has for itself.");
  describe_lines(schema);
  schema.field("cycles", &CoreCacheParams::cycles)
      .min(1)
      .max(10'000)
      .doc("From the address of a load to its data, where this is the nearest cache that has the line.");
  schema.field("prefetch", &CoreCacheParams::prefetch)
      .category("prefetchers")
      .doc(
          "Which lines this level asks for ahead of their use. It sees the accesses that miss the levels "
          "before it.");
  schema.field("throttle", &CoreCacheParams::throttle)
      .doc("Fewer lines are asked for while few of them are used (docs/model/program.md).")
      .source("own choice: Srinath et al., HPCA 2007");
  schema.effective(
      "throttle", [](const CoreCacheParams& params) { return params.prefetch.kind != "none"; },
      "unless the level has a prefetcher: set prefetch");
}

void CoreParams::describe(Schema<CoreParams>& schema) {
  schema.doc(
      "Out-of-order cores, one for each thread of the workload: accesses are made as far ahead as the "
      "reorder window reaches.");
  schema.field("clock", &CoreParams::clock)
      .where([](const Frequency& value) { return !value.rate.unlimited(); }, "a frequency")
      .doc("Cycles per second.")
      .source("own choice");
  schema.field("width", &CoreParams::width)
      .min(1)
      .max(64)
      .doc("Instructions per cycle that retire at most, so that as many may follow them into the window.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove allocates 6");
  schema.field("cycles_per_instruction", &CoreParams::cycles_per_instruction)
      .min(0.001)
      .max(1000.0)
      .doc(
          "Cycles an instruction takes while nothing waits for memory, of accesses for which the trace does "
          "not say how many cycles lie before them. Not less than 1 / `width`.")
      .source("own choice; a trace recorded with a core has the cycles");
  schema.rule(
      "fewer cycles than instructions that retire take",
      [](const CoreParams& params) { return params.cycles_per_instruction * params.width >= 0.999; },
      "cycles_per_instruction");
  schema.field("window", &CoreParams::window)
      .min(1)
      .max(1U << 20U)
      .doc("Instructions of a thread that are begun and not retired at most (the reorder buffer).")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove has 512");
  schema.field("mshrs", &CoreParams::mshrs)
      .min(1)
      .max(1U << 20U)
      .doc(
          "Lines that a core waits for at the same time at most, prefetches included; write-backs take none.")
      .source(
          "Intel 64 and IA-32 Architectures Optimization Reference Manual: the second level of Golden Cove "
          "has 48");
  schema.field("fill_buffers", &CoreParams::fill_buffers)
      .min(1)
      .max(1U << 20U)
      .default_text("mshrs")
      .doc(
          "Lines at most that instructions of a core wait for at the same time: loads, stores and page "
          "walks. Prefetches take none, so that they alone fill the rest of `mshrs`.")
      .source(
          "by default no limit besides `mshrs`. Intel Architecture Day 2021: the first level of Golden Cove "
          "has 16 fill buffers; its predecessors have 10 to 12");
  schema.rule(
      "more fill buffers than mshrs, of which each miss needs one",
      [](const CoreParams& params) { return params.demands() <= params.mshrs; }, "fill_buffers");
  schema.field("store_buffer", &CoreParams::store_buffer)
      .min(1)
      .max(1U << 20U)
      .doc(
          "Stores of a core that wait for their lines at most; they leave in order. Of programs that run, "
          "those that hit are among them.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove has 112");
  schema.field("cores", &CoreParams::cores)
      .min(1)
      .max(1U << 16U)
      .doc(
          "Of programs that run: cores with caches of their own. Each thread has one; threads that are more "
          "share the caches of a core, and have a window each.")
      .source("own choice");
  schema.field("branch_penalty", &CoreParams::branch_penalty)
      .max(1000)
      .doc(
          "Of programs that run: cycles from the moment in which a branch that was predicted wrongly has its "
          "operands to that in which what follows it comes into the window.")
      .source(
          "Intel Architecture Day 2021: 17 for Golden Cove; LLVM's model of it (X86SchedAlderlakeP.td) has "
          "14");
  schema.field("branch_entries", &CoreParams::branch_entries)
      .min(2)
      .max(1U << 20U)
      .where([](const std::uint32_t& value) { return std::has_single_bit(value); }, "a power of two")
      .doc(
          "Of programs that run: entries of each table that predicts branches: five for directions by longer "
          "and longer histories (TAGE), one for targets of indirect branches.")
      .source("own choice: makers do not publish theirs");
  schema.field("caches", &CoreParams::caches)
      .default_text("48KiB in 12 ways, 5 cycles; 2MiB in 16 ways, 15 cycles")
      .doc(
          "Of programs that run: the caches that each core has for itself, the nearest first. What misses "
          "them goes to the host.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: those of Golden Cove");
  schema.field("tlb", &CoreParams::tlb)
      .doc(
          "Of programs that run: the translation of addresses. Without it the place of each page is known at "
          "once; {} has that of Golden Cove.");
}

std::vector<LevelPrefetcher> CoreParams::prefetchers() const {
  std::vector<LevelPrefetcher> all;
  for (const CoreCacheParams& cache : caches) all.push_back({cache.prefetch, cache.throttle});
  return all;
}

void CoreParams::find_prefetchers(const PrefetcherRegistry& kinds) {
  prefetch = {.levels = prefetchers(), .kinds = &kinds};
  with_path("core.caches", [&] { prefetches(); });  // makes them, and so finds what is wrong
}

std::uint32_t CoreParams::prefetches() const {
  const std::uint32_t registers = CorePrefetchers(prefetch, Bytes{4096}).registers();
  return registers == 0 ? mshrs : std::min(mshrs, registers);
}

void CoreParams::resources(ResourceSink& sink) const {
  if (fill_buffers) {
    const std::uint64_t twice = std::min<std::uint64_t>(2 * std::uint64_t{*fill_buffers}, mshrs);
    std::vector<Setting> more;
    if (twice > *fill_buffers) more.emplace_back("core.fill_buffers", number(twice));
    sink.add({.name = "the fill buffers of the core of",
              .stage = Stage::kRequester,
              .capacity = *fill_buffers,
              .occupancy = Occupancy::kLevel,
              .measures = {"per_requester.*.core.fill_buffers_mean"},
              .wait = Segment::kRequesterQueue,
              .counts = Traffic::kLines,
              .part = "requester",
              .twice = more,
              .twice_text = std::to_string(twice) + " fill buffers",
              .full_from = 0.95,
              .each = "per_requester.*.core.threads"});
  }
  sink.add({.name = "the miss registers (MSHRs) of the core of",
            .stage = Stage::kRequester,
            .capacity = mshrs,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_requester.*.in_flight_mean"},
            .wait = Segment::kRequesterQueue,
            .counts = Traffic::kLines,
            .part = "requester",
            .twice = {doubled("core.mshrs", mshrs)},
            .twice_text = std::to_string(2 * std::uint64_t{mshrs}) + " registers",
            .full_from = 0.95,
            .each = "per_requester.*.core.threads"});
}

}  // namespace cxloom

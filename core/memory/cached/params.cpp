#include "memory/cached/params.hpp"

#include <bit>
#include <cstdint>

#include "base/schema.hpp"
#include "memory/cached/media.hpp"

namespace cxloom {

namespace {

constexpr Bytes kLargestPage{32'768};  // the size of an access has 16 bits

}  // namespace

void CachedMediaParams::describe(Schema<CachedMediaParams>& schema) {
  schema.doc(
      "A write-back cache of pages before other media. What these measure follows, with cache_ and backing_ "
      "before the names.");
  schema.field("size", &CachedMediaParams::size)
      .doc(
          "Bytes that the cache holds; a multiple of ways x page, and the number of sets need not be a power "
          "of two.");
  schema.field("page", &CachedMediaParams::page)
      .min(Bytes{kLineBytes})
      .max(kLargestPage)
      .where([](const Bytes& value) { return std::has_single_bit(value.count()); }, "a power of two")
      .doc("Bytes that come and go together.")
      .source("Yang et al., ATC 2023, and CXL-SSD-Sim, arXiv:2501.02524: 4 KiB before flash");
  schema.field("ways", &CachedMediaParams::ways).doc("Pages in a set; 0 means fully associative.");
  schema.field("policy", &CachedMediaParams::policy)
      .category("victims")
      .doc("Which page leaves a full set. Only with two ways or more: of one page there is no choice.");
  schema.field("prefetch", &CachedMediaParams::prefetch)
      .category("prefetchers")
      .doc(
          "Which pages are asked for ahead of their use. A line of its parameters is a page here: its `page` "
          "of 4 KiB is a region of 64 pages.");
  schema.field("lookup_time", &CachedMediaParams::lookup_time)
      .doc("Time to look a page up, hit or miss, in a pipeline.")
      .source("a choice: a table in SRAM");
  schema.field("misses", &CachedMediaParams::misses)
      .min(1)
      .max(65'536)
      .doc(
          "Pages on their way at the same time; a page counts until it is in the cache and its victim back "
          "behind. More wait, in order.")
      .source("a choice");
  schema.field("cache", &CachedMediaParams::cache).category("media").doc("What the cache is made of.");
  schema.field("backing", &CachedMediaParams::backing)
      .category("media")
      .required()
      .doc("What is behind the cache, and has the bytes that are not in it.");
  schema.rule("size must be a multiple of ways x page", [](const CachedMediaParams& params) {
    const std::uint64_t set = (params.ways == 0 ? 1 : std::uint64_t{params.ways}) * params.page.count();
    return params.size.count() >= set && params.size.count() % set == 0;
  });
  schema.rule("size must be at most 2^30 pages",
              [](const CachedMediaParams& params) { return params.pages() <= std::uint64_t{1} << 30U; });
  schema.effective(
      "policy",
      [](const CachedMediaParams& params) { return params.ways == 0 ? params.pages() > 1 : params.ways > 1; },
      "unless a set has two pages to choose from: set ways: 2 or more");
}

void CachedMediaParams::estimate(const CachedMediaParams& params, MemoryEstimate& memory) {
  memory.add("size", to_text(params.size), 1, CachedMedia::bytes_of_tables(params));
  memory.add("misses", std::to_string(params.misses), params.misses, CachedMedia::bytes_of_miss());
  memory.add_media("cache", params.cache);
  memory.add_media("backing", params.backing);
}

}  // namespace cxloom

#include "tags/tlb_params.hpp"

#include <string>
#include <string_view>

#include "base/schema.hpp"

namespace cxloom {

namespace {

template <auto kEntries, auto kWays>
void describe_entries(Schema<TlbParams>& schema, std::string_view entries, std::string_view ways,
                      std::string_view doc, std::string_view source) {
  constexpr std::uint32_t kMost = 1U << 20U;
  schema.field(entries, kEntries).min(1).max(kMost).doc(doc).source(source);
  schema.field(ways, kWays)
      .doc("Entries in a set; 0 means fully associative. Of a set the one used the longest time ago leaves.")
      .source(source);
  schema.rule(
      std::string(entries) + " must be a multiple of " + std::string(ways),
      [](const TlbParams& params) { return params.*kWays == 0 || params.*kEntries % params.*kWays == 0; },
      ways);
}

constexpr std::string_view kGoldenCove =
    "Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove; ways of the second level: "
    "its CPUID; those of the first: estimates";

}  // namespace

void TlbParams::describe(Schema<TlbParams>& schema) {
  schema.doc(
      "Of programs that run: what each core knows of where pages are. For a page that is in neither level it "
      "walks the page table, of x86-64 and in memory, with loads that go through its caches.");
  schema.field("page", &TlbParams::page)
      .where([](const Bytes& page) { return page == kSmallPage || page == kHugePage; }, "4KiB or 2MiB")
      .doc("Bytes of a page, of all pages of the program. With 2MiB they have frames of this size.")
      .source("4 KiB: x86-64; 2 MiB: its huge pages, as Linux has them for all of a large anonymous mapping");
  describe_entries<&TlbParams::entries, &TlbParams::ways>(
      schema, "entries", "ways",
      "Pages of 4 KiB that the first level has; a multiple of `ways`. A hit there takes no time.",
      kGoldenCove);
  describe_entries<&TlbParams::huge_entries, &TlbParams::huge_ways>(
      schema, "huge_entries", "huge_ways",
      "Pages of 2 MiB that the first level has, where `page` is 2MiB; a multiple of `huge_ways`.",
      kGoldenCove);
  describe_entries<&TlbParams::second_entries, &TlbParams::second_ways>(
      schema, "second_entries", "second_ways",
      "Pages of either size that the second level has, and keeps when the first forgets them; a "
      "multiple of `second_ways`.",
      kGoldenCove);
  schema.field("second_cycles", &TlbParams::second_cycles)
      .max(10'000)
      .doc("From a miss of the first level to what the second one says.")
      .source(
          "an estimate: Intel 64 and IA-32 Architectures Optimization Reference Manual has 7 for cores "
          "before Golden Cove");
  schema.field("walk_cache", &TlbParams::walk_cache)
      .max(1U << 20U)
      .doc(
          "Entries of each upper level of the page table that a core keeps beside its caches, so that a walk "
          "begins below them; 0: each walk begins at the root.")
      .source(
          "an estimate: makers do not publish theirs; Barr, Cox, Rixner, Translation Caching: Skip, Don't "
          "Walk (the Page Table), ISCA 2010, study 16 to 32");
  schema.field("walkers", &TlbParams::walkers)
      .min(1)
      .max(1U << 20U)
      .doc("Walks of a core that are under way at the same time at most.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove has 4");
}

}  // namespace cxloom

#include "tags/tlb.hpp"

#include <bit>
#include <string>
#include <string_view>

#include "base/schema.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

namespace {

TagArray translations(std::uint32_t entries, std::uint32_t ways, const VictimRegistry& policies) {
  const std::uint32_t in_set = ways == 0 ? entries : ways;
  const VictimContext context{
      .sets = entries / in_set, .ways = in_set, .random = RandomStream(0, "tlb", "victim")};
  return {KindSpec{"lru", Value(Value::Map{})}, policies, context};
}

/// The slot of the entry, which is marked as used; or kNoSlot.
Slot use(TagArray& array, std::uint64_t number) {
  const Slot slot = array.lookup(LineAddress{number});
  if (slot != kNoSlot) array.touch(slot);
  return slot;
}

void put(TagArray& array, std::uint64_t number) {
  const LineAddress line{number};
  array.place(line, array.victim_for(line));
}

void describe_entries(Schema<TlbParams>& schema, std::string_view entries,
                      std::uint32_t TlbParams::* entries_of, std::string_view ways,
                      std::uint32_t TlbParams::* ways_of, std::string_view doc, std::string_view source) {
  constexpr std::uint32_t kMost = 1U << 20U;
  schema.field(entries, entries_of).min(1).max(kMost).doc(doc).source(source);
  schema.field(ways, ways_of)
      .doc("Entries in a set; 0 means fully associative. Of a set the one used the longest time ago leaves.")
      .source(source);
  schema.rule(
      std::string(entries) + " must be a multiple of " + std::string(ways),
      [entries_of, ways_of](const TlbParams& params) {
        const std::uint32_t in_set = params.*ways_of;
        return in_set == 0 || params.*entries_of % in_set == 0;
      },
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
  describe_entries(
      schema, "entries", &TlbParams::entries, "ways", &TlbParams::ways,
      "Pages of 4 KiB that the first level has; a multiple of `ways`. A hit there takes no time.",
      kGoldenCove);
  describe_entries(
      schema, "huge_entries", &TlbParams::huge_entries, "huge_ways", &TlbParams::huge_ways,
      "Pages of 2 MiB that the first level has, where `page` is 2MiB; a multiple of `huge_ways`.",
      kGoldenCove);
  describe_entries(schema, "second_entries", &TlbParams::second_entries, "second_ways",
                   &TlbParams::second_ways,
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

Tlb::Tlb(const TlbParams& params, const VictimRegistry& policies)
    : page_bits_(static_cast<unsigned>(std::countr_zero(params.page.count()))),
      leaf_(params.huge() ? 2 : 1),
      first_(translations(params.huge() ? params.huge_entries : params.entries,
                          params.huge() ? params.huge_ways : params.ways, policies)),
      second_(translations(params.second_entries, params.second_ways, policies)) {
  if (params.walk_cache == 0) return;
  for (unsigned level = leaf_ + 1; level <= kPageTableLevels; ++level)
    upper_.push_back(translations(params.walk_cache, 0, policies));
}

bool Tlb::finds(std::uint64_t page) {
  const Slot slot = use(first_, page);
  if (slot == kNoSlot) return false;
  recent_[place(page)] = {page, slot};
  return true;
}

unsigned Tlb::bring(std::uint64_t address) {
  const std::uint64_t page = address >> page_bits_;
  unsigned loads = 0;
  if (use(second_, page) == kNoSlot) {
    loads = walk(address);
    put(second_, page);
  }
  put_first(page);
  return loads;
}

void Tlb::put_first(std::uint64_t page) {
  const LineAddress line{page};
  const Slot victim = first_.victim_for(line);
  if (victim != kNoSlot) {
    const std::uint64_t left = first_.line(victim).number();
    if (Recent& recent = recent_[place(left)]; recent.page == left) recent = {};
  }
  recent_[place(page)] = {page, first_.place(line, victim)};
}

/// How many levels are to be loaded: all up to the first whose entry is known.
unsigned Tlb::walk(std::uint64_t address) {
  const auto number = [&](unsigned level) { return address >> (12U + 9U * (level - 1)); };
  unsigned known = leaf_ + 1;
  for (TagArray& array : upper_) {
    if (use(array, number(known)) != kNoSlot) break;
    ++known;
  }
  if (upper_.empty()) known = kPageTableLevels + 1;
  for (unsigned level = leaf_ + 1; level < known && !upper_.empty(); ++level)
    put(upper_[level - leaf_ - 1], number(level));
  return known - leaf_;
}

}  // namespace cxloom

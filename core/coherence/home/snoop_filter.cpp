#include "coherence/home/snoop_filter.hpp"

#include <cassert>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "component/resource.hpp"

namespace cxloom {

namespace {

constexpr std::uint32_t kMostEntries = 1U
                                       << 30U;  // slots have 32 bits, and the sentinels of the sets count too

std::uint32_t ways_of(const LineFilterParams& params) {
  return params.ways == 0 ? params.entries : params.ways;
}

BlockRule blocks_of(const SnoopFilterParams& params) { return {params.block, params.alignment}; }

VictimContext context_of(const SnoopFilterParams& params, RandomStream random) {
  check_params(params);
  const std::uint32_t ways = ways_of(params);
  return {params.entries / ways, ways, random, blocks_of(params)};
}

}  // namespace

namespace {

constexpr const char* kWhat =
    "An inclusive snoop filter: an entry for each line that a cache may hold. For a line that comes into a "
    "full set others leave, and the caches that hold them are snooped.";

template <class Params>
void describe_filter_lines(Schema<Params>& schema) {
  schema.doc(kWhat);
  schema.field("entries", &Params::entries)
      .doc("Lines that it keeps track of; a multiple of ways.")
      .source("a choice: 4 MiB of lines in caches")
      .min(1)
      .max(kMostEntries);
  schema.field("ways", &Params::ways).doc("Entries in a set; 0 means fully associative.");
  schema.field("policy", &Params::policy)
      .category("victims")
      .doc("Which entry leaves a full set. Only with two ways or more: of one entry there is no choice.");
  schema.rule(
      "a filter cannot be smaller than one set: entries must be at least ways",
      [](const Params& params) { return params.entries >= params.ways; }, "entries");
  schema.rule(
      "entries must be a multiple of ways",
      [](const Params& params) {
        return params.entries < params.ways || params.entries % ways_of(params) == 0;
      },
      "entries");
  schema.effective(
      "policy", [](const Params& params) { return ways_of(params) > 1; },
      "unless a set has two entries to choose from: set ways: 2 or more");
}

}  // namespace

void LineFilterParams::describe(Schema<LineFilterParams>& schema) { describe_filter_lines(schema); }

void SnoopFilterParams::describe(Schema<SnoopFilterParams>& schema) {
  describe_filter_lines(schema);
  schema.field("block", &SnoopFilterParams::block)
      .doc(
          "Lines that leave together at most, by one snoop: the victim, and lines beside it that are in the "
          "filter.")
      .source("ESF, section V-C (InvBlk): 1 to 4; CXL 3.x, BISnp*Blk: 2 or 4")
      .min(1)
      .max(BlockRule::kMostLines);
  schema
      .choice("alignment", &SnoopFilterParams::alignment,
              {{"spec", BlockAlignment::kSpec}, {"free", BlockAlignment::kFree}})
      .doc(
          "Which lines are a block. spec: the two of the lower or upper 128 B of 256 B, or all four; free: "
          "any in a row. Only with `block`: 2 or more.")
      .source("CXL 3.x: BISnp*Blk cover the lower or upper 128 B, or 256 B");
  schema.rule(
      "the specification has no block of 3 lines, and blocks of up to 3 would be those of up to 2: set "
      "alignment: free, or block: 2 or 4",
      [](const SnoopFilterParams& params) {
        return params.block != 3 || params.alignment == BlockAlignment::kFree;
      },
      "block");
  schema.effective(
      "block", [](const SnoopFilterParams& params) { return params.entries > 1; },
      "unless there are two entries that can leave together");
  schema.effective(
      "alignment", [](const SnoopFilterParams& params) { return params.block > 1; },
      "unless several lines leave together: set block: 2 or more");
}

// A line that comes into a full set makes another leave, and the caches that have it lose it.
void SnoopFilterParams::resources(ResourceSink& sink) const {
  sink.add({.name = "the snoop filter of",
            .stage = Stage::kPlaces,
            .capacity = 1,
            .occupancy = Occupancy::kRatio,
            .measures = {"per_home.*.filter_evictions", "per_home.*.filter_misses"},
            .wait = Segment::kHomeQueue,
            .counts = Traffic::kLines,
            .part = "directory",
            .twice = {doubled("filter.entries", entries)},
            .twice_text = std::to_string(2 * std::uint64_t{entries}) + " entries",
            .remark_text = "of its misses drive a line out of caches"});
}

SnoopFilter::SnoopFilter(const SnoopFilterParams& params, std::uint32_t peers, const VictimRegistry& policies,
                         RandomStream random)
    : tags_(params.policy, policies, context_of(params, random)),
      blocks_(blocks_of(params)),
      peers_(peers),
      bits_(params.entries, peers) {
  tags_.allow_pins();
}

std::uint64_t SnoopFilter::bytes(const LineFilterParams& params, std::uint32_t peers) {
  const std::uint64_t entries = params.entries;
  const std::uint32_t ways = ways_of(params);
  return TagArray::bytes(entries / ways, ways) + SlotPins::bytes(entries / ways, entries) +
         EntryBits::bytes(entries, peers);
}

[[gnu::hot]] Slot SnoopFilter::insert(LineAddress line, FilterState state) {
  assert(find(line) == kNoSlot && has_room(line));
  const Slot slot = tags_.place(line, kNoSlot);
  set_state(slot, state);
  clear_owners(slot);
  return slot;
}

void SnoopFilter::clear() {
  std::vector<Slot> used;
  for (std::uint32_t set = 0; set < tags_.sets() && tags_.occupied() > 0; ++set) {
    used.clear();
    tags_.newest_first(set, [&](Slot slot) { used.push_back(slot); });
    for (const Slot slot : used) erase(slot);
  }
}

SnoopFilter::Victims SnoopFilter::victims_for(LineAddress line) {
  Victims victims;
  const Slot victim = tags_.victim_for(line);
  if (victim == kNoSlot) return victims;
  if (blocks_.most == 1) {
    victims.push(victim);
    return victims;
  }
  const auto can_leave = [this](LineAddress other) {
    const Slot slot = find(other);
    return slot != kNoSlot && !pinned(slot);
  };
  const LineBlock block = block_around(blocks_, tags_.line(victim), can_leave);
  for (std::uint32_t i = 0; i < block.lines; ++i) victims.push(find(LineAddress{block.first.number() + i}));
  return victims;
}

std::vector<Slot> SnoopFilter::owned_by(std::uint32_t peer) const {
  std::vector<Slot> owned;
  for (std::uint32_t set = 0; set < tags_.sets(); ++set) {
    tags_.newest_first(set, [&](Slot slot) {
      if (has_owner(slot, peer)) owned.push_back(slot);
    });
  }
  return owned;
}

}  // namespace cxloom

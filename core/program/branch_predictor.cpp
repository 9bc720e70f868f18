#include "program/branch_predictor.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::int8_t kMost = 3;
constexpr std::int8_t kLeast = -4;
constexpr std::uint8_t kMostUseful = 3;

template <std::int8_t least, std::int8_t most>
void count(std::int8_t& counter, bool up) {
  if (up ? counter < most : counter > least) counter = static_cast<std::int8_t>(counter + (up ? 1 : -1));
}

// Upper bits of products with odd numbers are as good as random: Knuth, The Art of Computer Programming, 6.4.
constexpr std::uint64_t mixed(std::uint64_t branch, std::uint64_t history) {
  return (branch * 0x9E37'79B9'7F4A'7C15) ^ ((history + 1) * 0xC2B2'AE3D'27D4'EB4F);
}
constexpr std::uint64_t spread(std::uint64_t branch, std::uint64_t history) {
  return mixed(branch, history) * 0x9E37'79B9'7F4A'7C15;
}

constexpr std::uint64_t last_of(std::uint64_t history, unsigned length) {
  return length >= 64 ? history : history & ((std::uint64_t{1} << length) - 1);
}

}  // namespace

BranchPredictor::BranchPredictor(std::uint32_t entries)
    : bits_(static_cast<unsigned>(std::countr_zero(entries))), base_(entries), targets_(entries) {
  ensure(std::has_single_bit(entries) && entries > 1,
         "a branch predictor of another size than a power of two");
  for (std::vector<TaggedEntry>& table : tables_) table.resize(entries);
}

inline BranchPredictor::TableLookup BranchPredictor::look_up(std::size_t table, std::uint64_t branch) {
  const std::uint64_t hash = spread(branch, last_of(history_, kHistories[table]));
  const auto tag = static_cast<std::uint16_t>((hash >> 20U) | 1U);  // 0 is nobody's
  return {&tables_[table][hash >> (64U - bits_)], tag};
}

bool BranchPredictor::direction(std::uint64_t branch, bool taken) {
  std::array<TableLookup, kHistories.size()> lookups{};
  TaggedEntry* decides = nullptr;  // the entry of the longest history that has one
  TaggedEntry* next = nullptr;     // and the one after it
  std::size_t longer = 0;          // tables from this one on have longer histories than that
  for (std::size_t table = kHistories.size(); table-- > 0;) {
    lookups[table] = look_up(table, branch);
    if (lookups[table].entry->tag != lookups[table].tag) continue;
    if (decides != nullptr) {
      next = lookups[table].entry;
      break;
    }
    decides = lookups[table].entry;
    longer = table + 1;
  }
  std::int8_t& base = base_[spread(branch, 0) >> (64U - bits_)];
  const bool otherwise = next != nullptr ? next->counter >= 0 : base >= 0;
  bool said = otherwise;
  if (decides != nullptr) {
    const bool own = decides->counter >= 0;
    // A new entry has seen too little.
    const bool is_new = decides->useful == 0 && (decides->counter == 0 || decides->counter == -1);
    if (!is_new) said = own;
    if (own != otherwise) {
      if (own == taken) {
        decides->useful = std::min<std::uint8_t>(decides->useful + 1, kMostUseful);
      } else if (decides->useful > 0) {
        --decides->useful;
      }
    }
    count<kLeast, kMost>(decides->counter, taken);
    if (is_new && next == nullptr) count<-2, 1>(base, taken);
    if (own != taken) allocate(lookups, longer, taken);
  } else {
    count<-2, 1>(base, taken);
    if (said != taken) allocate(lookups, 0, taken);
  }
  history_ = history_ << 1U | (taken ? 1U : 0U);
  return said == taken;
}

// In the shortest of the longer histories whose entry is of no use; if there is none, all are of less use
// from now on.
void BranchPredictor::allocate(const std::array<TableLookup, kHistories.size()>& lookups, std::size_t from,
                               bool taken) {
  for (std::size_t table = from; table < kHistories.size(); ++table) {
    if (lookups[table].entry->useful > 0) continue;
    *lookups[table].entry = {lookups[table].tag, static_cast<std::int8_t>(taken ? 0 : -1), 0};
    return;
  }
  for (std::size_t table = from; table < kHistories.size(); ++table) {
    --lookups[table].entry->useful;
  }
}

bool BranchPredictor::target(std::uint64_t branch, std::uint64_t target) {
  const std::uint64_t in_history = spread(branch, last_of(history_, kTargetHistory));
  Target& known = targets_[in_history >> (64U - bits_)];
  Target& latest = targets_[spread(branch, 0) >> (64U - bits_)];
  const std::uint64_t said = known.key == in_history ? known.target
                             : latest.key == branch  ? latest.target
                                                     : 0;
  known = {in_history, target};
  if (&latest != &known) latest = {branch, target};
  // Four bits of where it went.
  history_ = history_ << 4U | spread(target, 0) >> 60U;
  return said == target;
}

}  // namespace cxloom

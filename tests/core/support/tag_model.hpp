// What a tag array with pins must do under each policy, said as plainly as can be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tags/line_block.hpp"

namespace cxloom::test {

/// Every block that may leave, and no others, by the words of the rule.
inline std::vector<LineBlock> allowed_blocks(const BlockRule& rule, std::uint64_t line) {
  std::vector<LineBlock> blocks;
  for (std::uint32_t lines = 1; lines <= rule.most; ++lines) {
    for (std::uint64_t first = line >= lines ? line - lines + 1 : 0; first <= line; ++first) {
      const bool spec = lines == 1 || (lines == 2 && first % 2 == 0) || (lines == 4 && first % 4 == 0);
      if (rule.alignment == BlockAlignment::kFree || spec) blocks.push_back({LineAddress{first}, lines});
    }
  }
  return blocks;
}

class TagModel {
 public:
  struct Entry {
    std::uint64_t inserted;  // when
    std::uint64_t used;      // when last
    std::uint64_t uses = 0;
    bool pinned = false;
  };

  TagModel(std::uint32_t sets, std::uint32_t ways, std::string policy, BlockRule blocks = {})
      : sets_(sets), ways_(ways), policy_(std::move(policy)), blocks_(blocks) {}

  const std::map<std::uint64_t, Entry>& entries() const { return entries_; }
  bool has(std::uint64_t line) const { return entries_.contains(line); }
  bool pinned(std::uint64_t line) const { return entries_.at(line).pinned; }
  bool has_room(std::uint64_t line) const { return of_set(line).size() < ways_; }

  void insert(std::uint64_t line) {
    ++now_;
    entries_[line] = {now_, now_};
    ++insertions_[line];
  }
  void touch(std::uint64_t line) {
    entries_.at(line).used = ++now_;
    ++entries_.at(line).uses;
  }
  void erase(std::uint64_t line) { entries_.erase(line); }
  void set_pinned(std::uint64_t line, bool pinned) { entries_.at(line).pinned = pinned; }

  /// The line that leaves a full set for `line`; none if all are pinned.
  std::optional<std::uint64_t> victim_for(std::uint64_t line) const {
    std::optional<std::uint64_t> victim;
    for (const std::uint64_t candidate : of_set(line)) {
      if (!pinned(candidate) && (!victim || order_of(candidate) < order_of(*victim))) victim = candidate;
    }
    return victim;
  }
  /// The longest block around a line of lines that are there and, if asked for, not pinned; the lowest of
  /// them.
  LineBlock block_around(std::uint64_t line, bool pinned_too) const {
    LineBlock longest{LineAddress{line}, 1};
    for (const LineBlock& block : allowed_blocks(blocks_, line)) {
      bool whole = true;
      for (std::uint32_t i = 0; i < block.lines; ++i) {
        const std::uint64_t each = block.first.number() + i;
        whole = whole && has(each) && (pinned_too || !pinned(each));
      }
      if (whole && block.lines > longest.lines) longest = block;
    }
    return longest;
  }

 private:
  using Order = std::pair<std::int64_t, std::int64_t>;

  std::vector<std::uint64_t> of_set(std::uint64_t line) const {
    std::vector<std::uint64_t> lines;
    for (const auto& [each, entry] : entries_) {
      if (each % sets_ == line % sets_) lines.push_back(each);
    }
    return lines;
  }
  // The least of them leaves.
  Order order_of(std::uint64_t line) const {
    const Entry& entry = entries_.at(line);
    const auto inserted = static_cast<std::int64_t>(entry.inserted);
    const auto used = static_cast<std::int64_t>(entry.used);
    if (policy_ == "fifo") return {inserted, 0};
    if (policy_ == "lifo") return {-inserted, 0};
    if (policy_ == "lru") return {used, 0};
    if (policy_ == "mru") return {-used, 0};
    if (policy_ == "lfu") return {static_cast<std::int64_t>(entry.uses), used};
    if (policy_ == "lfi") return {static_cast<std::int64_t>(insertions_.at(line)), inserted};
    return {-std::int64_t{block_around(line, true).lines}, -inserted};  // longest-block
  }

  std::uint64_t sets_;
  std::uint64_t ways_;
  std::string policy_;
  BlockRule blocks_;
  std::uint64_t now_ = 0;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::uint64_t, std::uint64_t> insertions_;  // of lines that have left, too
};

}  // namespace cxloom::test

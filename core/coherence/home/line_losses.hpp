// What a home makes of losses: lines whose latest data are gone are poisoned, and a cache that has not
// answered a snoop owns nothing any more. docs/model/failures.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "coherence/common/coherence_counts.hpp"
#include "coherence/home/snoop_filter.hpp"
#include "kernel/windowed.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class LineLosses {
 public:
  LineLosses(SnoopFilter& filter, Windowed<CoherenceCounts>& counts) : filter_(filter), counts_(counts) {}

  /// Nobody knows the latest data of the line, until it is written as a whole.
  void poison(LineAddress line);
  void cure(LineAddress line);
  void cure_all();
  bool poisoned(LineAddress line) const { return lines_.find(key_of(line)) != nullptr; }
  /// How many lines are poisoned.
  std::size_t lines() const { return lines_.used(); }

  /// Nobody but `peer` may have the line, and it may have written it.
  bool owns(LineAddress line, std::uint32_t peer) const;
  /// The peer is presumed dead. What it may have written is poisoned, and nobody asks it for its lines.
  /// `answers`: how many the home has sent to it, grants among them. Without a new one it owns nothing new.
  void forget(std::uint32_t peer, std::uint32_t answers);
  /// It has nothing that `forget` would take from it.
  bool has_forgotten(std::uint32_t peer, std::uint32_t answers) const {
    return peer < forgotten_.size() && forgotten_[peer] == answers;
  }
  /// Memory has served a request, which is about to be answered: as poisoned if the line is. A write of the
  /// whole line cures it.
  void answers(Message& request);

 private:
  struct Cell {
    std::uint64_t line = 0;  // 0: empty
    std::uint64_t key() const { return line; }
  };

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  SnoopFilter& filter_;
  Windowed<CoherenceCounts>& counts_;
  FlatTable<Cell> lines_;
  std::vector<std::optional<std::uint32_t>> forgotten_;  // by peer, the answers when that happened last
};

}  // namespace cxloom

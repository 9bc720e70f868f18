// The guess of a core where a branch will go.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cxloom {

/// The branch predictor of one thread. Tables look at longer and longer histories, and the longest that knows
/// the branch in this history predicts its direction (TAGE). An indirect branch goes to its latest target in
/// this history, or else its latest one; a stack predicts returns.
///
/// Each function says whether the prediction was right, and learns.
class BranchPredictor {
 public:
  /// Each of the tables has so many entries, a power of two.
  explicit BranchPredictor(std::uint32_t entries);

  /// A conditional branch.
  bool direction(std::uint64_t branch, bool taken);
  /// An indirect jump or call.
  bool target(std::uint64_t branch, std::uint64_t target);
  /// A call, whose return goes there.
  void call(std::uint64_t behind) { returns_[depth_++ % kReturns] = behind; }
  /// Where the calls return to that are under way, the innermost first; 0 where there are no more. Of so many
  /// calls no others are known.
  void callers(std::span<std::uint64_t> addresses) const {
    for (std::size_t i = 0; i < addresses.size(); ++i)
      addresses[i] = i < std::min(depth_, kReturns) ? returns_[(depth_ - 1 - i) % kReturns] : 0;
  }
  /// A return.
  bool returns(std::uint64_t target) {
    if (depth_ == 0) return false;
    return returns_[--depth_ % kReturns] == target;
  }

 private:
  static constexpr std::array<unsigned, 5> kHistories = {4, 8, 16, 32, 64};  // outcomes
  static constexpr std::size_t kReturns = 32;
  static constexpr unsigned kTargetHistory = 32;

  struct TaggedEntry {
    std::uint16_t tag = 0;
    std::int8_t counter = 0;  // taken if it is not negative: -4 to 3
    std::uint8_t useful = 0;
  };
  struct TableLookup {
    TaggedEntry* entry;
    std::uint16_t tag;
  };
  struct Target {
    std::uint64_t key = 0;
    std::uint64_t target = 0;
  };

  TableLookup look_up(std::size_t table, std::uint64_t branch);
  void allocate(const std::array<TableLookup, kHistories.size()>& lookups, std::size_t from, bool taken);

  unsigned bits_;
  std::vector<std::int8_t> base_;  // -2 to 1
  std::array<std::vector<TaggedEntry>, kHistories.size()> tables_;
  std::vector<Target> targets_;
  std::array<std::uint64_t, kReturns> returns_{};
  std::size_t depth_ = 0;
  std::uint64_t history_ = 0;  // the latest outcome is bit 0
};

}  // namespace cxloom

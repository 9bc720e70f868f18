// The branches of a thread, from the block that ends with one to the block that follows.
#pragma once

#include <cstdint>
#include <span>

#include "program/branch_predictor.hpp"
#include "program/dependence.hpp"
#include "program/feed/block.hpp"

namespace cxloom {

/// Where a branch went is known when the next block of its thread begins: it is compared with the prediction
/// then.
class ThreadBranches {
 public:
  /// `entries` of each table of the predictor.
  explicit ThreadBranches(std::uint32_t entries) : predictor_(entries) {}

  /// A block ends. Its last instruction has waited for `needs`, and has perhaps read memory.
  void end(const ProgramBlock& block, const Dependence& needs, bool reads);
  /// The block before ended with a branch.
  bool under_way() const { return kind_ != kNone; }
  /// The branch goes to that address: whether it was predicted.
  bool go_to(std::uint64_t address);
  /// The dependence of the latest branch: its condition, or where it goes.
  const Dependence& needs() const { return needs_; }
  /// Where the calls return to that are under way, the innermost first; 0 where there are no more.
  void callers(std::span<std::uint64_t> addresses) const { predictor_.callers(addresses); }

 private:
  enum Kind : std::uint8_t { kNone, kConditional, kIndirect, kReturn };

  BranchPredictor predictor_;
  Kind kind_ = kNone;
  std::uint64_t address_ = 0;
  std::uint64_t behind_ = 0;  // the instruction after it in memory
  Dependence needs_;
};

}  // namespace cxloom

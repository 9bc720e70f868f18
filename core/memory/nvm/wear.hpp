// Endurance: how often each region of non-volatile media was written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/units.hpp"

namespace cxloom {

/// Wear is levelled within a region: n block writes into a region of k blocks wear each of its lines n / k
/// times.
class NvmWear {
 public:
  NvmWear(Bytes region, Bytes block, std::optional<std::uint64_t> endurance)
      : blocks_(region.count() / block.count()),
        lines_(region.count() / kLineBytes),
        worn_at_(endurance ? *endurance * blocks_ : 0) {}

  void write(std::uint64_t block) {
    const std::uint64_t count = ++writes_[block / blocks_];
    ++total_;
    most_ = std::max(most_, count);
    if (count == worn_at_) ++worn_;
  }

  /// Writes that the most written line has borne.
  double maximum() const { return static_cast<double>(most_) / static_cast<double>(blocks_); }
  /// Mean writes of the lines in regions that were written at all.
  double mean() const {
    if (writes_.empty()) return 0.0;
    return static_cast<double>(total_) / static_cast<double>(blocks_) / static_cast<double>(writes_.size());
  }
  std::uint64_t written_lines() const { return writes_.size() * lines_; }
  std::uint64_t worn_lines() const { return worn_ * lines_; }

 private:
  std::uint64_t blocks_;   // of a region
  std::uint64_t lines_;    // of a region
  std::uint64_t worn_at_;  // block writes into a region that wear it out; 0: none do
  std::unordered_map<std::uint64_t, std::uint64_t> writes_;
  std::uint64_t total_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t worn_ = 0;
};

}  // namespace cxloom

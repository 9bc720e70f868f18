// Records of a trace that are no accesses: by whom they are counted, and how they are left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// Looks at the records of a trace batch by batch. Calls, and what goes on behind them, are for cores.
/// Without those they are taken out: what lies before them counts to the next access of their thread, a fence
/// among them stands before it, and dependences are distances between accesses.
class NonAccessFilter {
 public:
  explicit NonAccessFilter(bool keep) : keep_(keep) {}

  void apply(std::vector<Access>& batch) {
    std::size_t kept = 0;
    for (Access& each : batch) {
      const bool is_access = each.reaches_memory();
      count_ += is_access ? 0 : 1;
      if (!keep_ && !is_access) {
        leave_out(each);
      } else {
        if (!keep_ && count_ > 0) [[unlikely]]
          close_up(each);
        if (&batch[kept] != &each) batch[kept] = each;
        ++kept;
      }
      ++number_;
    }
    batch.resize(kept);
  }

  /// Records that were no accesses.
  std::uint64_t count() const { return count_; }

 private:
  struct Gap {
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;
    bool fence = false;
  };
  // An access further back than this has been answered whenever one needs it.
  static constexpr std::size_t kRemembered = 65536;

  static std::uint32_t sum(std::uint32_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(a + b, std::numeric_limits<std::uint32_t>::max()));
  }

  void leave_out(const Access& note) {
    left_out_.push_back(number_);
    if (left_out_.size() > kRemembered) left_out_.pop_front();
    Gap& gap = gaps_[note.thread];
    gap.instructions += note.instruction_gap;
    gap.cycles += note.cycles;
    gap.fence |= note.dependence == kAllBefore;
  }
  void close_up(Access& access) {
    if (const auto found = gaps_.find(access.thread); found != gaps_.end()) {
      const Gap gap = std::exchange(found->second, {});
      access.instruction_gap = sum(access.instruction_gap, gap.instructions);
      access.cycles = sum(access.cycles, gap.cycles);
      if (gap.fence) access.dependence = kAllBefore;
    }
    if (access.dependence == 0 || access.dependence == kAllBefore) return;
    const std::uint64_t needed = number_ - std::min<std::uint64_t>(number_, access.dependence);
    const auto between = left_out_.end() - std::ranges::upper_bound(left_out_, needed);
    access.dependence -= static_cast<std::uint32_t>(between);
  }

  bool keep_;
  std::uint64_t number_ = 0;  // of the record at hand
  std::uint64_t count_ = 0;
  std::deque<std::uint64_t> left_out_;  // numbers
  std::unordered_map<std::uint32_t, Gap> gaps_;
};

}  // namespace cxloom

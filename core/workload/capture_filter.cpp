#include "workload/capture_filter.hpp"

#include <algorithm>
#include <limits>

namespace cxloom {

CaptureFilter::CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                             bool first_touch, std::uint64_t skip, std::uint64_t limit)
    : first_touch_(first_touch), skip_(skip), limit_(limit) {
  if (!levels.empty()) caches_.emplace(levels, policies);
}

void CaptureFilter::feed(std::string_view block, std::vector<Access>& records) {
  accesses_.clear();
  parser_.feed(block, accesses_);
  for (const Access& access : accesses_) {
    if (complete()) return;
    filter(access, records);
  }
}

CacheHierarchy::Counts CaptureFilter::counts(std::size_t level) const {
  CacheHierarchy::Counts counts = caches_->counts(level);
  if (level < at_start_.counts.size()) {
    counts.hits -= at_start_.counts[level].hits;
    counts.misses -= at_start_.counts[level].misses;
    counts.write_backs -= at_start_.counts[level].write_backs;
  }
  return counts;
}

void CaptureFilter::filter(const Access& access, std::vector<Access>& records) {
  instructions_ += access.instruction_gap;
  if (access.thread >= gaps_.size()) gaps_.resize(access.thread + 1, 0);
  std::uint32_t& gap = gaps_[access.thread];
  gap = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{gap} + access.instruction_gap,
                                                           std::numeric_limits<std::uint32_t>::max()));
  if (!caches_) {
    Access record = access;
    if (first_touch_) record.address = pages_.translate(access.address);
    give(record, records);
    return;
  }
  const std::uint64_t first = access.address.value() / kLineBytes;
  const std::uint64_t last = (access.address.value() + access.size - 1) / kLineBytes;
  for (std::uint64_t number = first; number <= last; ++number) {
    const LineAddress line{number};
    caches_->access_line(first_touch_ ? pages_.translate(line) : line, access.kind,
                         [&](LineAddress missed, AccessKind kind) {
                           Access record = access;
                           record.address = missed.address();
                           record.size = kLineBytes;
                           record.kind = kind;
                           give(record, records);
                         });
  }
}

void CaptureFilter::give(Access record, std::vector<Access>& records) {
  record.instruction_gap = gaps_[record.thread];
  gaps_[record.thread] = 0;
  if (!recording_) return;
  if (skip_ > 0) {
    if (--skip_ == 0) note_start();
    return;
  }
  if (complete()) return;
  records.push_back(record);
  ++records_;
}

void CaptureFilter::note_start() {
  at_start_.instructions = instructions_;
  at_start_.counts.clear();
  for (std::size_t level = 0; level < levels(); ++level) at_start_.counts.push_back(caches_->counts(level));
}

}  // namespace cxloom

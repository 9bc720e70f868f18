#include "workload/capture_filter.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cxloom {

namespace {

constexpr std::uint64_t kOwnAddress = (std::uint64_t{1} << 48U) - 1;  // without the process's number

constexpr std::uint32_t at_most_32_bits(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

CaptureFilter::CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                             bool first_touch, std::uint64_t skip, std::uint64_t limit)
    : first_touch_(first_touch), skip_(skip), limit_(limit) {
  if (!levels.empty()) caches_.emplace(levels, policies);
  before_.counts.resize(this->levels());
  note_start();
}

std::uint64_t CaptureFilter::access(const Access& access, std::uint64_t producer,
                                    std::vector<Access>& records) {
  if (complete()) return 0;
  begin_instructions(access.thread, access.instruction_gap);
  if (!caches_) {
    Access record = access;
    if (first_touch_) record.address = pages_.translate(access.address);
    return give(record, producer, records);
  }
  const std::uint64_t first = access.address.value() / kLineBytes;
  const std::uint64_t last = (access.address.value() + access.size - 1) / kLineBytes;
  std::uint64_t latest = 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    const LineAddress line = first_touch_ ? pages_.translate(LineAddress{number}) : LineAddress{number};
    recent_[number % kRecent] = {number, line, access_line(line, access, producer, records)};
    latest = std::max(latest, delivered_by(line));
  }
  return latest;
}

Slot CaptureFilter::access_line(LineAddress line, const Access& access, std::uint64_t producer,
                                std::vector<Access>& records) {
  return caches_->access_line(line, access.kind, [&](LineAddress missed, AccessKind kind) {
    Access record = access;
    record.address = missed.address();
    record.size = kLineBytes;
    record.kind = kind;
    const bool reads = kind == AccessKind::kRead;
    record.role = !reads                              ? AccessRole::kWriteBack
                  : access.kind == AccessKind::kWrite ? AccessRole::kStoreFill
                                                      : AccessRole::kDemand;
    const std::uint64_t number = give(record, reads ? producer : 0, records);
    if (reads) fills_[line.number() % kFills] = {line.number(), number};
  });
}

std::uint64_t CaptureFilter::give(Access record, std::uint64_t producer, std::vector<Access>& records) {
  const Gap gap = std::exchange(gaps_[record.thread], {});
  record.instruction_gap = at_most_32_bits(gap.instructions);
  record.cycles = at_most_32_bits(gap.cycles);
  if (!recording_) return 0;
  if (skip_ > 0) {
    if (--skip_ == 0) note_start();
    return 0;
  }
  if (complete()) return 0;
  ++records_;
  const std::uint64_t distance = producer == 0 ? 0 : records_ - producer;
  record.dependence = distance < kAllBefore ? static_cast<std::uint32_t>(distance) : 0;
  if (record.dependence == 0) record.dependence_cycles = 0;
  if (!first_touch_) record.address = Address{record.address.value() & kOwnAddress};
  records.push_back(record);
  return records_;
}

void CaptureFilter::set_recording(bool recording) {
  if (recording == recording_) return;
  if (recording_) {
    before_.instructions = instructions();
    for (std::size_t level = 0; level < levels(); ++level) before_.counts[level] = counts(level);
  }
  recording_ = recording;
  note_start();
}

CacheHierarchy::Counts CaptureFilter::counts(std::size_t level) const {
  const CacheHierarchy::Counts& now = caches_->counts(level);
  const CacheHierarchy::Counts& start = at_start_.counts[level];
  const CacheHierarchy::Counts& before = before_.counts[level];
  return {recorded(now.hits, start.hits, before.hits), recorded(now.misses, start.misses, before.misses),
          recorded(now.write_backs, start.write_backs, before.write_backs)};
}

void CaptureFilter::note_start() {
  at_start_.instructions = instructions_;
  at_start_.counts.clear();
  for (std::size_t level = 0; level < levels(); ++level) at_start_.counts.push_back(caches_->counts(level));
}

}  // namespace cxloom

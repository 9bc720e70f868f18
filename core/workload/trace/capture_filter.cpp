#include "workload/trace/capture_filter.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace cxloom {

namespace {

constexpr std::uint64_t kOwnAddress = (std::uint64_t{1} << 48U) - 1;  // without the process's number

constexpr std::uint32_t at_most_32_bits(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

Access record_of(const Access& access, LineAddress line, AccessKind kind, AccessRole role) {
  Access record = access;
  record.address = line.address();
  record.size = kLineBytes;
  record.kind = kind;
  record.role = role;
  if (role == AccessRole::kWriteBack) record.dependence_cycles = 0;
  return record;
}

}  // namespace

CaptureFilter::CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                             bool first_touch, std::uint64_t skip, std::uint64_t limit, std::uint32_t cores,
                             Bytes page, CorePrefetch prefetch)
    : pages_(page),
      levels_(levels),
      policies_(policies),
      most_cores_(cores),
      page_(page),
      prefetch_(std::move(prefetch)),
      first_touch_(first_touch),
      skip_(skip),
      limit_(limit) {
  cores_.push_back(std::make_unique<Core>(levels_, policies_, prefetch_, page_));  // refuses wrong levels
  before_.counts.resize(this->levels());
  note_start();
}

CaptureFilter::Core& CaptureFilter::core_of(std::uint32_t thread) {
  if (thread >= by_thread_.size()) by_thread_.resize(thread + 1);
  Core*& core = by_thread_[thread];
  if (core != nullptr) return *core;
  auto fewest = std::ranges::min_element(cores_, {}, [](const auto& each) { return each->threads_; });
  if ((*fewest)->threads_ > 0 && cores_.size() < most_cores_) {
    cores_.push_back(std::make_unique<Core>(levels_, policies_, prefetch_, page_));
    fewest = std::prev(cores_.end());
  }
  core = fewest->get();
  ++core->threads_;
  return *core;
}

void CaptureFilter::thread_ends(std::uint32_t thread) {
  if (thread >= by_thread_.size() || by_thread_[thread] == nullptr) return;
  --std::exchange(by_thread_[thread], nullptr)->threads_;
}

CaptureFilter::Delivery CaptureFilter::access(Core& core, const Access& access, std::uint64_t producer,
                                              std::vector<Access>& records) {
  if (complete()) return {};
  begin_instructions(access.thread, access.instruction_gap);
  if (!core.caches_) {
    Access record = access;
    if (first_touch_) record.address = pages_.translate(access.address);
    return {.record = give(record, producer, records), .recorded = true};
  }
  const std::uint64_t first = access.address.value() / kLineBytes;
  const std::uint64_t last = (access.address.value() + access.size - 1) / kLineBytes;
  Delivery latest;
  for (std::uint64_t number = first; number <= last; ++number) {
    const LineAddress line = first_touch_ ? pages_.translate(LineAddress{number}) : LineAddress{number};
    const CacheHierarchy::AccessedLine found = access_line(core, line, access, producer, records);
    core.recent_[number % kRecent] = {number, line, found.slot};
    latest.record = std::max(latest.record, core.delivered_by(line));
    latest.level = std::max(latest.level, found.level);
    latest.recorded |= found.level == levels() || found.ahead;
  }
  return latest;
}

void CaptureFilter::flush(Core& core, const Access& access, std::uint64_t producer,
                          std::vector<Access>& records) {
  if (complete()) return;
  begin_instructions(access.thread, access.instruction_gap);
  Access record = record_of(access, LineAddress::of(access.address), AccessKind::kFlush, AccessRole::kDemand);
  if (first_touch_) record.address = pages_.translate(record.address);
  if (core.caches_) {
    const LineAddress line = LineAddress::of(record.address);
    for (const auto& each : cores_) {
      record.brings |= each->caches_->state(line) == LineState::kDirty;
      if (record.keeps) each->caches_->clean(line);
      else each->caches_->take(line);
    }
    const std::uint64_t fill = core.delivered_by(line);
    if (fill > producer) record.dependence_cycles = 0;
    producer = std::max(producer, fill);
  }
  give(record, producer, records);
}

void CaptureFilter::arrives(Core& core, Address address, std::uint64_t cycle) {
  const std::uint64_t line = address.value() / kLineBytes;
  Recent& recent = core.recent_[line % kRecent];
  if (recent.line == line) recent.arrives = cycle;
}

/// What the caches of a core ask memory for, as records: reads of that role, and write-backs.
auto CaptureFilter::record_with(Core& core, const Access& access, AccessRole reader, std::uint64_t producer,
                                std::vector<Access>& records) {
  return [=, this, &core, &access, &records](LineAddress line, AccessKind kind) {
    if (kind == AccessKind::kWrite) {
      give(record_of(access, line, kind, AccessRole::kWriteBack), 0, records);
      return;
    }
    const std::uint64_t number = give(record_of(access, line, kind, reader), producer, records);
    core.fills_[line.number() % kFills] = {line.number(), number};
  };
}

CacheHierarchy::AccessedLine CaptureFilter::access_line(Core& core, LineAddress line, const Access& access,
                                                        std::uint64_t producer,
                                                        std::vector<Access>& records) {
  const AccessRole reader = access.kind == AccessKind::kWrite ? AccessRole::kStoreFill : access.role;
  // A store to a line that others had, too, asks for it anew; what the core has of it can be read meanwhile.
  if (cores_.size() > 1 && take_from_others(core, line, access, records))
    give(record_of(access, line, AccessKind::kRead, reader), producer, records);
  CacheHierarchy::AccessedLine found =
      core.caches_->access_line(line, access.kind, record_with(core, access, reader, producer, records));
  if (!core.prefetchers_.any() || access.is_page_walk()) return found;
  // A line that came long ago is there.
  found.ahead &= core.delivered_by(line) != 0;
  if (found.ahead) use(core, line, access, records);
  // Each level sees the accesses that miss those before it.
  for (std::size_t level = 0; level <= found.level && level < levels(); ++level) {
    const Found what = level < found.level ? Found::kMiss : found.ahead ? Found::kFirstUse : Found::kHit;
    prefetch(core, level, line, what, access, producer, records);
  }
  return found;
}

/// The first use of a line that was asked for ahead waits for what is left of its way.
void CaptureFilter::use(Core& core, LineAddress line, const Access& access, std::vector<Access>& records) {
  Access record = record_of(access, line, access.kind, AccessRole::kUse);
  record.dependence_cycles = 0;
  give(record, core.delivered_by(line), records);
}

// A level is shown an access, or a line that the level before it has asked for. Lines that others have
// written are left alone.
void CaptureFilter::prefetch(Core& core, std::size_t level, LineAddress line, Found found,
                             const Access& access, std::uint64_t producer, std::vector<Access>& records) {
  if (!core.prefetchers_.has(level)) return;
  const CacheHierarchy::Counts& so_far = core.caches_->counts(level);
  const std::vector<LineAddress> wanted =
      core.prefetchers_.wanted(level, {line, access.thread, found}, so_far.useful, so_far.useless);
  for (const LineAddress each : wanted) {
    const auto is_dirty = [&](const auto& other) {
      return other.get() != &core && other->caches_->state(each) == LineState::kDirty;
    };
    if (cores_.size() > 1 && std::ranges::any_of(cores_, is_dirty)) continue;
    const bool goes_on = level + 1 < levels();
    const Found further = goes_on ? core.caches_->found(level + 1, each) : Found::kHit;
    const bool asked = core.caches_->ask_ahead(
        each, level, record_with(core, access, AccessRole::kPrefetch, producer, records));
    if (asked && goes_on) prefetch(core, level + 1, each, further, access, producer, records);
  }
}

/// What a line that is dirty elsewhere holds goes to where all can read it; a store leaves it nowhere else.
/// Whether the core had the line itself, and others lost it.
bool CaptureFilter::take_from_others(Core& core, LineAddress line, const Access& access,
                                     std::vector<Access>& records) {
  const LineState own = core.caches_->state(line);
  const bool writes = access.kind == AccessKind::kWrite;
  if (own == LineState::kDirty || (own != LineState::kInvalid && !writes)) return false;
  bool lost = false;
  for (const auto& other : cores_) {
    if (other.get() == &core) continue;
    const LineState there = writes ? other->caches_->take(line) : other->caches_->state(line);
    lost |= writes && there != LineState::kInvalid;
    if (there != LineState::kDirty) continue;
    if (!writes) other->caches_->clean(line);
    give(record_of(access, line, AccessKind::kWrite, AccessRole::kWriteBack), 0, records);
  }
  return lost && own != LineState::kInvalid;
}

std::uint64_t CaptureFilter::give(Access record, std::uint64_t producer, std::vector<Access>& records) {
  const Gap gap = std::exchange(gaps_[record.thread], {});
  record.instruction_gap = at_most_32_bits(gap.instructions);
  record.cycles = at_most_32_bits(gap.cycles);
  if (!recording_) return 0;
  if (skip_ > 0) {
    if (record.reaches_memory() && --skip_ == 0) note_start();
    return 0;
  }
  if (complete()) return 0;
  ++numbers_;
  if (record.reaches_memory()) ++records_;
  if (record.dependence != kAllBefore) {
    const std::uint64_t distance = producer == 0 ? 0 : numbers_ - producer;
    record.dependence = distance < kAllBefore ? static_cast<std::uint32_t>(distance) : 0;
  }
  // What it needs is too long ago.
  if (record.dependence == 0 && producer != 0) record.dependence_cycles = 0;
  if (!first_touch_) record.address = Address{record.address.value() & kOwnAddress};
  records.push_back(record);
  return numbers_;
}

void CaptureFilter::set_recording(bool recording) {
  if (recording == recording_) return;
  if (recording_) {
    before_.instructions = instructions();
    for (std::size_t level = 0; level < levels(); ++level) before_.counts[level] = counts(level);
  }
  recording_ = recording;
  if (recording) gaps_.assign(gaps_.size(), {});  // what was before is not recorded
  note_start();
}

CacheHierarchy::Counts CaptureFilter::sum(std::size_t level) const {
  CacheHierarchy::Counts sum;
  for (const auto& core : cores_) {
    const CacheHierarchy::Counts& each = core->caches_->counts(level);
    sum.hits += each.hits;
    sum.misses += each.misses;
    sum.write_backs += each.write_backs;
    sum.prefetches += each.prefetches;
    sum.useful += each.useful;
    sum.useless += each.useless;
  }
  return sum;
}

CacheHierarchy::Counts CaptureFilter::counts(std::size_t level) const {
  const CacheHierarchy::Counts now = sum(level);
  const CacheHierarchy::Counts& start = at_start_.counts[level];
  const CacheHierarchy::Counts& before = before_.counts[level];
  return {recorded(now.hits, start.hits, before.hits),
          recorded(now.misses, start.misses, before.misses),
          recorded(now.write_backs, start.write_backs, before.write_backs),
          recorded(now.prefetches, start.prefetches, before.prefetches),
          recorded(now.useful, start.useful, before.useful),
          recorded(now.useless, start.useless, before.useless)};
}

void CaptureFilter::note_start() {
  at_start_.instructions = instructions_;
  at_start_.counts.clear();
  for (std::size_t level = 0; level < levels(); ++level) at_start_.counts.push_back(sum(level));
}

}  // namespace cxloom

#include "workload/stream/prefetched_stream.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

PrefetchedStream::CoreState& PrefetchedStream::core_of(std::uint32_t thread) {
  if (thread >= cores_.size()) cores_.resize(thread + 1);
  if (!cores_[thread]) cores_[thread] = std::make_unique<CoreState>(prefetch_);
  return *cores_[thread];
}

// Dependences of the pattern count the accesses of all threads; here records, of which some are prefetches.
bool PrefetchedStream::next(Access& access) {
  if (!pending_.empty()) {
    access = pending_.front();
    pending_.pop_front();
    ++number_;
    return true;
  }
  if (!stream_->next(access)) return false;
  CoreState& core = core_of(access.thread);
  access.dependence = latest_.among_all(access.dependence, number_);
  const bool is_read =
      access.kind == AccessKind::kRead && access.role == AccessRole::kDemand && access.lines() == 1;
  if (!is_read) {
    latest_.add(number_++);
    return true;
  }
  const Access read = access;
  const bool is_use = use(core, access);
  ++number_;
  prefetch(core, read, is_use ? Found::kFirstUse : Found::kMiss);
  return true;
}

// A use waits for its line alone. What needs its data waits as well for what its address is made of, of which
// that was made last.
bool PrefetchedStream::use(CoreState& core, Access& access) {
  const std::uint64_t line = LineAddress::of(access.address).number();
  Ahead& place = core.ahead[line % kRemembered];
  if (place.line != line || access.dependence == kAllBefore) {
    latest_.add(number_);
    return false;
  }
  const std::uint64_t fetched = std::exchange(place, {}).number;
  const bool has_producer = access.dependence != 0;
  latest_.add(has_producer ? std::max(fetched, number_ - access.dependence) : fetched);
  access.role = AccessRole::kUse;
  access.dependence = static_cast<std::uint32_t>(number_ - fetched);
  for (std::uint64_t& each : core.useful) ++each;
  return true;
}

void PrefetchedStream::prefetch(CoreState& core, const Access& read, Found found) {
  const LineAddress line = LineAddress::of(read.address);
  for (std::size_t level = 0; level < prefetch_.levels.size(); ++level) {
    if (!core.prefetchers.has(level)) continue;
    for (const LineAddress each :
         core.prefetchers.wanted(level, {line, read.thread, found}, core.useful[level], core.useless[level]))
      ask(core, read, each);
  }
}

bool PrefetchedStream::holds(LineAddress line) const {
  if (!range_) return true;
  const std::uint64_t at = line.address().value();
  return at >= range_->base.value() && at - range_->base.value() + kLineBytes <= range_->bytes;
}

void PrefetchedStream::ask(CoreState& core, const Access& read, LineAddress line) {
  Ahead& place = core.ahead[line.number() % kRemembered];
  if (place.line == line.number() || !holds(line)) return;
  if (place.line != kNone) {
    for (std::uint64_t& each : core.useless) ++each;
  }
  const std::uint64_t number = number_ + pending_.size();
  place = {line.number(), number};
  Access ahead = read;
  ahead.address = line.address();
  ahead.size = kLineBytes;
  ahead.role = AccessRole::kPrefetch;
  ahead.instruction_gap = 0;
  // Its address is made of what that of the read was made of, which is the record before all of these.
  if (read.dependence != 0 && read.dependence != kAllBefore)
    ahead.dependence = static_cast<std::uint32_t>(number - (number_ - 1) + read.dependence);
  else ahead.dependence = 0;
  pending_.push_back(ahead);
}

std::unique_ptr<AccessStream> prefetched(std::unique_ptr<AccessStream> stream, CorePrefetch prefetch) {
  if (stream->wants_answers() || !PrefetchedStream::any(prefetch)) return stream;
  return std::make_unique<PrefetchedStream>(std::move(stream), std::move(prefetch));
}

}  // namespace cxloom

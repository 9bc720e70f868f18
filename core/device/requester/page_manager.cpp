#include "device/requester/page_manager.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

namespace {

constexpr std::size_t kFlushesAtOnce = 64;  // the lines of a page

}  // namespace

// With cores other threads go on while an access waits for its page: accesses are placed when they are made.
PageManager::PageManager(Endpoint& endpoint, MovablePages& pages, CoreCluster* cores, RequestQueue& queue,
                         ManagedProgram& program)
    : endpoint_(endpoint),
      pages_(pages),
      cores_(cores),
      queue_(queue),
      program_(program),
      mover_(endpoint.kernel(), endpoint.source(), endpoint, pages,
             static_cast<PageMover::MovedProgram&>(*this)) {
  if (cores_) place_later();
}

void PageManager::place_later() {
  pages_.place_later();
  places_ = true;
}

void PageManager::tier(std::shared_ptr<const Tiering> tiering) {
  if (!places_) place_later();
  pages_.number_touched();
  tiering_ = std::make_unique<TieringAgent>(endpoint_.kernel(), endpoint_, std::move(tiering), pages_, mover_,
                                            static_cast<TieringAgent::TieredProgram&>(*this));
}

bool PageManager::holds_up(const Access& access) {
  if (!places_ && mover_.holds(access.address, access.size)) {
    if (held_since_ < Time{}) held_since_ = endpoint_.now();
    return true;
  }
  return stopped_ > 0 && !cores_;
}

// A write-back has the address that its line was read by, and faults no more than a walk does.
bool PageManager::stops(Request& request, const Access& access) {
  if (held_since_ >= Time{}) mover_.waited(endpoint_.now() - std::exchange(held_since_, Time{-1}));
  if (!places_) return false;
  const bool translated = access.role != AccessRole::kWriteBack && !access.is_page_walk();
  bool stops = tiering_ && translated && tiering_->faults(request, page_);
  if (!stops && mover_.holds(request.address, request.size)) {
    mover_.hold(request);
    stops = true;
  }
  stopped_ += stops ? 1 : 0;
  return stops;
}

// What the kernel does for it is its own processing.
void PageManager::goes_on(Request& access) {
  --stopped_;
  mover_.goes_on(access.id);
  program_.process(access);
  if (!cores_) program_.may_issue();
}

// A line of a page takes the way of the program's accesses, through the cache if there is one.
void PageManager::copy(Address line, AccessKind kind, std::uint64_t number) {
  Request& request = queue_.take(endpoint_.now());
  request.id = number;
  request.lines = Request::kCopy;
  request.address = line;
  request.kind = kind;
  request.size = kLineBytes;
  program_.process(request);
}

void PageManager::end_accesses(NodeId memory, PagesLeaving& leaving) {
  ending_.push_back({memory, &leaving});
  look_for_ends();
}

void PageManager::look_for_ends() {
  for (std::size_t i = 0; i < ending_.size();) {
    const EndingAccesses each = ending_[i];
    if (!program_.end_accesses_to(each.memory)) {
      ++i;
      continue;
    }
    ending_.erase(ending_.begin() + static_cast<std::ptrdiff_t>(i));
    each.leaving->accesses_over();
  }
}

// The kernel's way to empty a cache of memory that is to go.
void PageManager::flush(std::vector<LineAddress> lines, PagesLeaving& leaving) {
  const bool was_idle = flushes_.empty();
  const std::size_t count = lines.size();
  flushes_.push_back({std::move(lines), &leaving, 0, count});
  if (was_idle) flush_next();
}

void PageManager::flush_next() {
  while (!flushes_.empty()) {
    LineFlush& flush = flushes_.front();
    if (flush.left > 0) {
      const std::size_t count = flush.lines.size();
      while (flush.next < count && flush.next + flush.left - count < kFlushesAtOnce)
        copy(flush.lines[flush.next++].address(), AccessKind::kFlush, 0);
      return;
    }
    PagesLeaving& leaving = *flush.leaving;
    flushes_.pop_front();
    leaving.flushed();
  }
}

void PageManager::copied(Request& line) {
  const std::uint64_t number = line.id;
  const AccessKind kind = line.kind;
  const bool failed = line.failed;
  // What waited for its line, which an access or a prefetcher had asked for, has moved nothing itself.
  const bool moved = line.message.size > 0;
  if (line.target != endpoint_.id() && !failed && moved) {
    // A write through a cache may have read its line.
    if (kind != AccessKind::kRead && !carries_data(line.message.opcode)) {
      program_.written_back(line.target, line.message.size);
    } else {
      program_.prefetched(line.target, line.message.size);
    }
  }
  queue_.give_back(line);
  if (kind == AccessKind::kFlush) {
    --flushes_.front().left;
    return flush_next();
  }
  mover_.answered(number, kind, failed);
}

void PageManager::page_settled(const PageMove& move, bool moved) {
  if (moved) program_.page_moved(move);
  if (tiering_) tiering_->settled(move, moved);
  program_.may_issue();
}

void PageManager::shot_down() {
  if (tiering_) tiering_->shot_down();
}

std::uint64_t PageManager::running() const {
  return cores_ ? cores_->running() : program_.out_of_work() ? 0 : 1;
}

Time PageManager::interrupt(std::optional<std::uint32_t> thread, Time time) {
  if (cores_) return cores_->interrupt(thread, time);
  if (program_.out_of_work()) return {};
  busy_until_ = std::max(busy_until_, endpoint_.now()) + time;
  return time;
}

std::vector<MeasureInfo> PageManager::measures() {
  return joined(PageMover::measures(), TieringAgent::measures());
}

void PageManager::report(MeasureSink& sink) const {
  mover_.report(sink);
  if (tiering_) tiering_->report(sink);
}

}  // namespace cxloom

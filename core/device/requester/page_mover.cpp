#include "device/requester/page_mover.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/measure_table.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

struct PageMoverMeasured {
  std::uint64_t moved = 0;
  std::uint64_t left = 0;
  double busy = 0;
  double waited = 0;
};

constexpr std::array kPageMoverMeasures{
    measure<&PageMoverMeasured::moved>(
        "pages_moved", "",
        "its pages that events moved to another memory, in the whole run. This and the next three with "
        "move_pages"),
    measure<&PageMoverMeasured::left>(
        "pages_not_moved", "",
        "those that stayed: no frame was free for them, a line could not be copied, or the work had ended"),
    measure<&PageMoverMeasured::busy>("page_moves_ns", "ns", "time in which pages were being copied"),
    measure<&PageMoverMeasured::waited>("page_wait_ns", "ns",
                                        "time in which the next access waited for its page to be copied"),
};

}  // namespace

PageMover::PageMover(Kernel& kernel, EventSource& source, const EventHandler& owner, MovablePages& pages,
                     Requester& requester)
    : kernel_(kernel),
      source_(source),
      owner_(owner),
      pages_(pages),
      requester_(requester),
      list_(kernel, "a page that is being moved", *this) {}

void PageMover::begin(const Order& order) {
  Work work{order, pages_.pages_in(order.from, order.range)};
  work.pages.resize(
      static_cast<std::size_t>(std::floor(order.share * static_cast<double>(work.pages.size()) + 1e-9)));
  if (!order.copy) {
    move_at_once(work);
    return;
  }
  const bool idle = work_.empty();
  work_.push_back(std::move(work));
  if (!idle) return;
  began_ = kernel_.now();
  next_page();
}

void PageMover::move_at_once(const Work& work) {
  for (const std::uint64_t page : work.pages) {
    // One that is under way goes where it goes.
    const auto move = move_ && move_->page == page ? std::nullopt : pages_.begin_move(page, work.order.to);
    if (!move) {
      ++pages_left_;
      continue;
    }
    pages_.end_move(*move);
    ++pages_moved_;
    requester_.page_settled(*move, true);
  }
}

void PageMover::next_page() {
  while (!work_.empty()) {
    Work& work = work_.front();
    if (work.next == work.pages.size()) {
      work_.pop_front();
      pace_ = RateMeter{};
      continue;
    }
    const std::uint64_t page = work.pages[work.next++];
    const auto move = requester_.out_of_work() ? std::nullopt : pages_.begin_move(page, work.order.to);
    if (!move) {
      ++pages_left_;
      continue;
    }
    if (pace_.rate() != work.order.rate) pace_ = RateMeter{work.order.rate};
    move_ = move;
    lines_ = left_ = move->bytes / kLineBytes;
    read_ = 0;
    failed_ = false;
    before_ = requester_.issued();
    draining_ = requester_.in_flight();
    if (draining_ == 0) copy_lines();
    return;
  }
  busy_ += kernel_.now() - began_;
}

void PageMover::copy_lines() {
  next_read_ = std::max(next_read_, kernel_.now());
  read_next();
}

void PageMover::read_next() {
  while (read_ < lines_) {
    if (next_read_ > kernel_.now()) {
      if (!std::exchange(waking_, true)) kernel_.schedule(next_read_, source_, *this, 0, 0);
      return;
    }
    next_read_ += pace_.advance(kLineBytes);
    const std::uint64_t line = read_++;
    requester_.copy(Address{move_->from.value() + line * kLineBytes}, AccessKind::kRead, line);
  }
}

void PageMover::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  waking_ = false;
  read_next();
}

void PageMover::answered(std::uint64_t number, AccessKind kind, bool failed) {
  failed_ |= failed;
  if (kind == AccessKind::kRead && !failed) {
    requester_.copy(Address{move_->to.value() + number * kLineBytes}, AccessKind::kWrite, number);
  } else {
    line_done();
  }
}

void PageMover::line_done() {
  if (--left_ > 0) return;
  const PageMove move = *move_;
  const bool moved = !failed_;
  move_.reset();
  if (moved) {
    pages_.end_move(move);
    ++pages_moved_;
  } else {
    pages_.give_up_move(move);
    ++pages_left_;
  }
  requester_.page_settled(move, moved);
  next_page();
}

std::vector<MeasureInfo> PageMover::measures() { return infos_of(kPageMoverMeasures); }

void PageMover::report(MeasureSink& sink) const {
  report_all(kPageMoverMeasures,
             {.moved = pages_moved_, .left = pages_left_, .busy = busy_.ns(), .waited = waited_.ns()}, sink);
}

}  // namespace cxloom

#include "device/page_mover.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/kernel.hpp"

namespace cxloom {

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
      ++counts_.left;
      continue;
    }
    pages_.end_move(*move);
    ++counts_.moved;
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
      ++counts_.left;
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
  counts_.busy += kernel_.now() - began_;
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
    ++counts_.moved;
  } else {
    pages_.give_up_move(move);
    ++counts_.left;
  }
  requester_.page_settled(move, moved);
  next_page();
}

}  // namespace cxloom

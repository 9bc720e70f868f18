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
        "its pages that events or tiering moved to another memory, in the whole run. This and the next three "
        "with move_pages or tiering"),
    measure<&PageMoverMeasured::left>(
        "pages_not_moved", "",
        "pages that were to move and stayed: no frame was free for them, a line could not be copied, or the "
        "work had ended"),
    measure<&PageMoverMeasured::busy>("page_moves_ns", "ns", "time in which pages were being copied"),
    measure<&PageMoverMeasured::waited>(
        "page_wait_ns", "ns",
        "time in which the next access, or with cores or tiering each, waited "
        "for its page to be copied"),
};

}  // namespace

PageMover::PageMover(Kernel& kernel, EventSource& source, const EventHandler& owner, MovablePages& pages,
                     MovedProgram& program)
    : kernel_(kernel),
      source_(source),
      owner_(owner),
      pages_(pages),
      program_(program),
      list_(kernel, "a page that is being moved", *this) {}

void PageMover::begin(const Order& order) {
  PageList work{.pages = pages_.pages_in(order.from, order.range),
                .to = order.to,
                .rate = order.rate,
                .from = order.from,
                .leaving = order.leaving};
  work.pages.resize(
      static_cast<std::size_t>(std::floor(order.share * static_cast<double>(work.pages.size()) + 1e-9)));
  if (!order.copy) {
    move_at_once(work);
    return;
  }
  const bool was_idle = idle() && !choosing_;
  waiting_ += work.pages.size();
  work_.push_back(std::move(work));
  if (was_idle) next_page();
}

void PageMover::move(std::uint64_t page, std::size_t node, const MoveCosts& costs, bool urgent) {
  const bool was_idle = idle() && !choosing_;
  ++waiting_;
  (urgent ? urgent_ : work_).push_back({.pages = {page}, .to = {node}, .costs = costs});
  if (was_idle) next_page();
}

void PageMover::hold(Request& access) { held_.push_back({&access, kernel_.now()}); }

void PageMover::move_at_once(const PageList& work) {
  for (const std::uint64_t page : work.pages) {
    if (moves(page)) continue;  // goes where it goes
    const auto move = begin_move(page, work.to);
    if (!move) {
      ++pages_left_;
      continue;
    }
    pages_.end_move(*move);
    ++pages_moved_;
    program_.page_settled(*move, true);
  }
}

std::optional<PageMove> PageMover::begin_move(std::uint64_t page, const std::vector<std::size_t>& to) {
  for (const std::size_t node : to) {
    if (const auto move = pages_.begin_move(page, node)) return move;
  }
  return std::nullopt;
}

void PageMover::next_page() {
  if (!busy_since_) busy_since_ = kernel_.now();
  choosing_ = true;
  while (!idle()) {
    std::deque<PageList>& first = urgent_.empty() ? work_ : urgent_;
    PageList& work = first.front();
    if (work.next == work.pages.size()) {
      PagesLeaving* const leaving = work.leaving;
      first.pop_front();
      pace_ = RateMeter{};
      if (leaving) leaving->order_over();
      continue;
    }
    const std::uint64_t page = work.pages[work.next++];
    --waiting_;
    if (work.from && pages_.node_of(page) != *work.from) continue;  // somebody else has moved it
    const bool stays = work.leaving ? pages_.is_table(page) : program_.out_of_work();
    const auto move = stays ? std::nullopt : begin_move(page, work.to);
    if (!move) {
      ++pages_left_;
      if (work.leaving) work.leaving->page_stays();
      continue;
    }
    choosing_ = false;
    leaving_ = work.leaving;
    if (pace_.rate() != work.rate) pace_ = RateMeter{work.rate};
    move_ = move;
    costs_ = work.costs;
    lines_ = left_ = move->bytes / kLineBytes;
    read_ = 0;
    failed_ = false;
    before_ = program_.issued();
    draining_ = program_.under_way();
    if (draining_ == 0) unmap();
    return;
  }
  choosing_ = false;
  busy_ += kernel_.now() - *std::exchange(busy_since_, std::nullopt);
}

void PageMover::unmap() {
  if (costs_.shoots_down) program_.shot_down();
  if (costs_.before == Time{}) return copy_lines();
  kernel_.schedule(kernel_.now() + costs_.before, source_, *this, kUnmapped);
}

void PageMover::copy_lines() {
  next_read_ = std::max(next_read_, kernel_.now());
  read_next();
}

void PageMover::read_next() {
  // Lines that were read and are not at their new place are under way.
  while (read_ < lines_ && read_ + left_ - lines_ < costs_.lines) {
    if (next_read_ > kernel_.now()) {
      if (!std::exchange(waking_, true)) kernel_.schedule(next_read_, source_, *this, kRead);
      return;
    }
    next_read_ += pace_.advance(kLineBytes);
    const std::uint64_t line = read_++;
    program_.copy(Address{move_->from.value() + line * kLineBytes}, AccessKind::kRead, line);
  }
}

void PageMover::wake(std::uint8_t kind, std::uint64_t /*payload*/) {
  if (kind == kUnmapped) return copy_lines();
  waking_ = false;
  read_next();
}

void PageMover::answered(std::uint64_t number, AccessKind kind, bool failed) {
  failed_ |= failed;
  if (kind == AccessKind::kRead && !failed) {
    program_.copy(Address{move_->to.value() + number * kLineBytes}, AccessKind::kWrite, number);
  } else {
    line_done();
  }
}

void PageMover::line_done() {
  if (--left_ > 0) {
    if (costs_.lines < lines_) read_next();
    return;
  }
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
  program_.page_settled(move, moved);
  release(move, moved);
  if (leaving_ && moved) leaving_->page_left(move);
  if (leaving_ && !moved) leaving_->page_stays();
  next_page();
}

void PageMover::release(const PageMove& move, bool moved) {
  for (const HeldAccess& held : std::exchange(held_, {})) {
    if (moved) held.access->address = move.moved(held.access->address, held.access->size);
    waited_ += kernel_.now() - held.since;
    program_.goes_on(*held.access);
  }
}

std::vector<MeasureInfo> PageMover::measures() { return infos_of(kPageMoverMeasures); }

void PageMover::report(MeasureSink& sink) const {
  report_all(kPageMoverMeasures,
             {.moved = pages_moved_, .left = pages_left_, .busy = busy_.ns(), .waited = waited_.ns()}, sink);
}

}  // namespace cxloom

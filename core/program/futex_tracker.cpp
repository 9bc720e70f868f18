#include "program/futex_tracker.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

namespace cxloom {

namespace {

constexpr std::uint64_t kClearsAtEnd = 0x20'0000;  // of clone: CLONE_CHILD_CLEARTID
constexpr std::int64_t kTryAgain = -11;            // the futex has another value already
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
// Ends of threads that a read may show. Nobody asks for the ends of detached threads.
constexpr std::size_t kMostWatched = 64;
constexpr std::size_t kMostRecent = 64;  // wakes: a thread that finds a futex changed does so soon after

// The kernel takes them as int.
std::uint64_t count_of(std::uint64_t argument) {
  const auto count = static_cast<std::int32_t>(argument);
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

}  // namespace

void FutexTracker::begins(const ProgramThread& thread, const Release& by) {
  const auto made = made_.find(by.order);
  if (by.thread == 0 || made == made_.end()) return;
  cleared_[thread.number] = {thread.process, made->second};
  // The memory of a thread that ended is used again.
  std::erase_if(ended_, [&](const End& end) {
    return end.word.process == thread.process && end.word.address == made->second;
  });
  watch();
  made_.erase(made);
}

void FutexTracker::calls(const ProgramThread& thread, std::uint32_t pid, const SystemCall& call) {
  const Release by{thread.number, call.order};
  switch (call.number) {
    case system_call::kFutex: futex(thread, call); break;
    case system_call::kClone:
      if ((call.arguments[0] & kClearsAtEnd) != 0) made_[call.order] = call.arguments[3];
      break;
    case system_call::kSetTidAddress:
      cleared_[thread.number] = {thread.process, call.arguments[0]};
      watch();
      break;
    case system_call::kExit:
      ends_thread(thread, by);
      exits_[pid] = by;
      break;
    case system_call::kExitGroup: exits_[pid] = by; break;
    default: break;
  }
}

Release FutexTracker::ends(const ProgramThread& thread, const SystemCallEnd& end) {
  Release by;
  if (end.number == system_call::kFutex) {
    const auto waiter = std::find_if(waiters_.begin(), waiters_.end(),
                                     [&](const Waiter& one) { return one.thread.number == thread.number; });
    if (waiter != waiters_.end()) {
      // A waiter was not woken if its time was over, or it was interrupted.
      if (end.result == 0) {
        if (waiter->by.thread == 0) take_over(*waiter);
        by = waiter->by;
      }
      if (end.result == kTryAgain) {
        by = changed_by(*waiter);
      }
      waiters_.erase(waiter);
    }
    settle(thread.number, end.result > 0 ? static_cast<std::uint64_t>(end.result) : 0);
  } else if (end.number == system_call::kWait4 && end.result > 0) {
    const auto exit = exits_.find(static_cast<std::uint32_t>(end.result));
    if (exit != exits_.end()) {
      by = exit->second;
      exits_.erase(exit);
    }
  }
  return by;
}

void FutexTracker::gone(const ProgramThread& thread) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.thread.number == thread.number; });
  std::erase_if(wakes_, [&](const Wake& wake) { return wake.by.thread == thread.number; });
  if (cleared_.erase(thread.number) != 0) watch();
}

Release FutexTracker::joins(const ProgramThread& thread, std::uint64_t address) {
  const Word word{thread.process, address};
  const auto end = std::ranges::find_if(ended_, [&](const End& one) {
    return !one.told && one.word.is(word) && one.by.thread != thread.number;
  });
  if (end == ended_.end()) return {};
  end->told = true;
  watch();
  return end->by;
}

std::uint32_t FutexTracker::living_at(const ProgramThread& thread, std::uint64_t address) const {
  const Word word{thread.process, address};
  // A thread reads its own word often: most locks keep their owner's.
  const auto own = cleared_.find(thread.number);
  if (own != cleared_.end() && own->second.is(word)) return 0;
  const auto living = std::ranges::find_if(cleared_, [&](const auto& one) { return one.second.is(word); });
  return living == cleared_.end() ? 0 : living->first;
}

void FutexTracker::futex(const ProgramThread& thread, const SystemCall& call) {
  const auto& [address, operation, count, more, second, third] = call.arguments;
  const bool shared = (operation & system_call::kFutexPrivate) == 0;
  const Word word{thread.process, address, shared};
  const Word other{thread.process, second, shared};
  const Release by{thread.number, call.order};
  auto wake = [&](const Word& whom, const Word& onto, std::uint64_t most, bool counts) {
    wakes_.push_back({by, whom, onto, most, counts});
    recent_.push_back(wakes_.back());
    if (recent_.size() > kMostRecent) recent_.pop_front();
    hand_out(wakes_.back());
  };
  switch (system_call::futex_operation(call)) {
    case system_call::kFutexWait:
    case system_call::kFutexWaitBits:
    case system_call::kFutexLockPi:
    case system_call::kFutexLockPi2: waits(thread, word); break;
    case system_call::kFutexWake:
    case system_call::kFutexWakeBits: wake(word, {}, count_of(count), true); break;
    case system_call::kFutexUnlockPi: wake(word, {}, 1, false); break;
    case system_call::kFutexRequeue:
    case system_call::kFutexCompareRequeue: wake(word, other, count_of(count), true); break;
    case system_call::kFutexWakeOperation:
      wake(word, {}, count_of(count), true);
      wake(other, {}, count_of(more), true);
      break;
    default: break;
  }
}

void FutexTracker::resume(Waiter& waiter, const Release& by) {
  waiter.by = by;
  resumptions_.push_back({waiter.thread, by});
}

// It was woken, in the place of another that was taken to be.
void FutexTracker::take_over(Waiter& waiter) {
  for (Waiter& other : waiters_) {
    if (other.by.thread == 0 || !other.word.is(waiter.word)) continue;
    waiter.by = other.by;
    resume(other, {});
    return;
  }
}

void FutexTracker::waits(const ProgramThread& thread, const Word& word) {
  waiters_.push_back({thread, word, {}});
  if (const End* const ended = end_at(word)) resume(waiters_.back(), ended->by);
  for (Wake& wake : wakes_) hand_out(wake);
}

void FutexTracker::ends_thread(const ProgramThread& thread, const Release& by) {
  const auto cleared = cleared_.extract(thread.number);
  if (cleared.empty() || cleared.mapped().address == 0) return;
  const Word& word = cleared.mapped();
  Wake wake{by, word, {}, kAll};
  hand_out(wake);
  ended_.push_back({word, by});
  watch();
}

void FutexTracker::hand_out(Wake& wake) {
  for (Waiter& waiter : waiters_) {
    if (wake.woken == wake.most) return;
    if (waiter.by.thread != 0 || !waiter.word.is(wake.word)) continue;
    resume(waiter, wake.by);
    ++wake.woken;
  }
}

void FutexTracker::settle(std::uint32_t thread, std::uint64_t result) {
  std::uint64_t surplus = 0;
  for (const Wake& wake : wakes_) {
    if (wake.by.thread == thread && wake.counts) surplus += wake.woken;
  }
  surplus -= std::min(surplus, result);
  bool changed = false;
  for (auto waiter = waiters_.rbegin(); waiter != waiters_.rend() && surplus > 0; ++waiter) {
    if (waiter->by.thread != thread) continue;
    // Its resumption stands: as likely it is another that was taken for woken and is on its way back by
    // itself.
    waiter->by = {};
    --surplus;
    changed = true;
  }
  for (const Wake& wake : wakes_) {
    if (wake.by.thread != thread || wake.onto.address == 0) continue;
    std::uint64_t moved = result - std::min(result, wake.most);
    for (Waiter& waiter : waiters_) {
      if (moved == 0) break;
      if (waiter.by.thread != 0 || !waiter.word.is(wake.word)) continue;
      waiter.word = wake.onto;
      --moved;
      changed = true;
    }
  }
  std::erase_if(wakes_, [&](const Wake& wake) { return wake.by.thread == thread; });
  if (!changed) return;
  for (Wake& wake : wakes_) hand_out(wake);
}

// A thread changes the word before it wakes its waiters, so that others do not begin to wait.
Release FutexTracker::changed_by(const Waiter& waiter) const {
  if (const End* const ended = end_at(waiter.word)) return ended->by;
  for (const Wake& wake : std::views::reverse(recent_)) {
    if (wake.by.thread != waiter.thread.number && waiter.word.is(wake.word)) return wake.by;
  }
  return {};
}

const FutexTracker::End* FutexTracker::end_at(const Word& word) const {
  const auto end = std::find_if(ended_.begin(), ended_.end(), [&](const End& one) {
    return one.word.process == word.process && one.word.address == word.address;
  });
  return end == ended_.end() ? nullptr : &*end;
}

void FutexTracker::watch() {
  watched_.reset();
  for (const auto& [thread, word] : cleared_) {
    if (word.address != 0) watched_.set(place_of(word.address));
  }
  std::size_t untold = 0;
  for (End& end : std::views::reverse(ended_)) {
    if (end.told) continue;
    if (++untold > kMostWatched) {
      end.told = true;
    } else {
      watched_.set(place_of(end.word.address));
    }
  }
}

}  // namespace cxloom

#include "program/feed/thread_place.hpp"

#include "program/feed/thread_state.hpp"

namespace cxloom {

namespace {

ThreadState state_of(const FeedRingHead& head) {
  return state_of_thread(head.pid, head.tid.load(std::memory_order_relaxed));
}

}  // namespace

bool ThreadPlace::falls_asleep(const FeedRingHead& head, std::uint64_t at) {
  if (where_ != kMayWait || (state_of(head) != ThreadState::kUnknown && !sleeps(head, at))) return false;
  where_ = kSleeps;
  return true;
}

// The kernel says of a thread that sleeps neither why, nor whether it will have gone on by the time that its
// ring is looked at again.
bool ThreadPlace::sleeps(const FeedRingHead& head, std::uint64_t at) {
  const std::uint32_t rests = head.rests.load(std::memory_order_acquire);
  if (rests % 2 != 0) return false;  // for room, which there is
  if (state_of(head) != ThreadState::kSleeps) return false;
  return head.rests.load(std::memory_order_acquire) == rests &&
         head.written.load(std::memory_order_acquire) == at;
}

}  // namespace cxloom

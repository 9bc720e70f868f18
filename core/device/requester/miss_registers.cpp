#include "device/requester/miss_registers.hpp"

#include <utility>

namespace cxloom {

namespace {

bool needs_register(const CoreAccess& access) { return !access.is_use(); }
bool needs_fill_buffer(const CoreAccess& access) { return !access.is_prefetch(); }
/// Each is linked before the one that came earlier. The first one, linked in the order in which they came.
CoreAccess* in_order_of_coming(CoreAccess* last) {
  CoreAccess* first = nullptr;
  while (last) last = std::exchange(last->behind, std::exchange(first, last));
  return first;
}
bool is_early(const CoreAccess& access) { return access.is_prefetch() && !access.urgent; }

}  // namespace

void MissRegisters::dispatched(CoreAccess& access) {
  if (!access.in_background()) {
    latest_ = &access;
  } else if (access.is_prefetch() && latest_ != nullptr) {
    access.behind = std::exchange(latest_->leads_to, &access);
    access.follows = true;
  }
}

bool MissRegisters::has_room(const CoreAccess& access) const {
  if (needs_register(access) && registers_taken_ == registers_) return false;
  if (needs_fill_buffer(access) && fill_buffers_taken_ == fill_buffers_) return false;
  return !is_early(access) || prefetches_made_ < prefetches_;
}

void MissRegisters::enter(CoreAccess& access) {
  access.asked = true;
  CoreAccess* use = in_order_of_coming(std::exchange(access.wanted_by, nullptr));
  for (; use; use = use->behind) may_ask_.push_back(use);
}

void MissRegisters::grant(CoreAccess& access) {
  access.has_register = needs_register(access);
  access.has_fill_buffer = needs_fill_buffer(access);
  if (access.has_register) ++registers_taken_;
  if (access.has_fill_buffer) ++fill_buffers_taken_;
  if (access.is_prefetch()) ++prefetches_made_;
  if (latest_ == &access) latest_ = nullptr;
  for (CoreAccess* next = in_order_of_coming(std::exchange(access.leads_to, nullptr)); next;) {
    CoreAccess& prefetch = *std::exchange(next, next->behind);
    prefetch.follows = false;
    if (!std::exchange(prefetch.asks, false)) continue;
    enter(prefetch);
    queue_of(prefetch).push_back(&prefetch);
  }
}

std::deque<CoreAccess*>& MissRegisters::queue_of(const CoreAccess& access) {
  if (!access.is_prefetch()) return waiting_;
  return access.urgent ? urgent_ : waiting_prefetches_;
}

inline void MissRegisters::grant_from(std::deque<CoreAccess*>& queue) {
  while (!queue.empty() && has_room(*queue.front())) {
    CoreAccess& first = *queue.front();
    queue.pop_front();
    grant(first);
    granted_.push_back(&first);
  }
}

void MissRegisters::grant_what_can_be() {
  // An access that is granted may lead to an urgent prefetch.
  do {
    grant_from(urgent_);
    grant_from(waiting_);
    grant_from(waiting_prefetches_);
  } while (!urgent_.empty() && has_room(*urgent_.front()));
}

void MissRegisters::ask(CoreAccess& access) {
  if (access.follows) {
    access.asks = true;
    return;
  }
  enter(access);
  std::deque<CoreAccess*>& queue = queue_of(access);
  if (queue.empty() && has_room(access)) {
    grant(access);
    granted_.push_back(&access);
  } else {
    queue.push_back(&access);
  }
  // What it leads to, if anything.
  if (!waiting_prefetches_.empty() || !urgent_.empty()) grant_what_can_be();
}

void MissRegisters::release(CoreAccess& access) {
  if (!access.has_register && !access.has_fill_buffer) {
    // A use whose line has come before it had a fill buffer.
    std::erase(waiting_, &access);
    grant(access);
  }
  if (std::exchange(access.has_register, false)) --registers_taken_;
  if (std::exchange(access.has_fill_buffer, false)) --fill_buffers_taken_;
  if (access.is_prefetch()) --prefetches_made_;
  grant_what_can_be();
}

void MissRegisters::hurry(CoreAccess& prefetch) {
  if (prefetch.has_register || prefetch.urgent) return;
  prefetch.urgent = true;
  if (std::erase(waiting_prefetches_, &prefetch) > 0) ask(prefetch);
}

}  // namespace cxloom

#include "kernel/divided_kernels.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "kernel/outbox.hpp"

namespace cxloom {

DividedKernels::DividedKernels(std::size_t parts, std::size_t threads, Time lookahead,
                               std::uint64_t counted_together)
    : thrown_(parts),
      threads_(std::max<std::size_t>(std::min(threads, parts), 1)),
      lookahead_(lookahead),
      team_(threads_) {
  ensure(parts > 0 && lookahead > Time{},
         "a division without parts, or whose parts act on each other at once");
  for (std::size_t i = 0; i <= parts; ++i) {
    kernels_.push_back(std::make_unique<Kernel>(group_, counted_together));
    kernels_.back()->stay_awake(
        true);  // what goes on in the background goes on while other parts are at work
  }
  for (const auto& kernel : kernels_) {
    kernel->outboxes_.reserve(kernels_.size() - 1);
    // The control, to which least is sent, comes last: they are looked through for each message.
    for (std::size_t i = kernels_.size(); i-- > 0;) {
      if (kernels_[i] != kernel) kernel->outboxes_.emplace_back(*kernels_[i]);
    }
  }
}

/// What was sent between two windows, or before the first: when parts start, or are brought up to a time at
/// which somebody looks at them.
void DividedKernels::take_what_came_between() {
  const auto sends = [](const auto& kernel) {
    return std::ranges::any_of(kernel->outboxes_, &Outbox::fills);
  };
  if (std::ranges::none_of(kernels_, sends)) return;
  take_in_all();
  turn_pages();
}

Time DividedKernels::next_event_time() {
  take_what_came_between();
  Time next = Time::max();
  for (const auto& kernel : kernels_) {
    next = std::min(next, kernel->next_event_time());
    if (!sent_) continue;
    for (const Outbox& outbox : kernel->outboxes_) next = std::min(next, outbox.sent().earliest);
  }
  return next;
}

void DividedKernels::move_to(Time now) {
  now_ = now;
  for (const auto& kernel : kernels_) kernel->begin_instant(now);
}

bool DividedKernels::all_idle() const {
  return std::ranges::all_of(kernels_, [](const auto& kernel) { return kernel->idle(); });
}

bool DividedKernels::idle() {
  take_what_came_between();
  if (!all_idle()) return false;
  take_in_all();
  return all_idle();
}

std::uint64_t DividedKernels::events() const {
  std::uint64_t sum = 0;
  for (const auto& kernel : kernels_) sum += kernel->events();
  return sum;
}

const EventHandler* DividedKernels::failed() const {
  for (const auto& kernel : kernels_) {
    if (kernel->failed()) return kernel->failed();
  }
  return nullptr;
}

void DividedKernels::watch(EventWatcher* watcher) {
  for (const auto& kernel : kernels_) kernel->watch(watcher);
}

void DividedKernels::take_in(std::size_t index) {
  Kernel& receiver = *kernels_[index];
  for (const auto& kernel : kernels_) {
    for (Outbox& outbox : kernel->outboxes_) {
      if (outbox.to() == &receiver && !outbox.sent().empty()) receiver.take_in(outbox);
    }
  }
}

void DividedKernels::take_in_all() {
  if (!sent_) return;
  for (std::size_t i = 0; i < kernels_.size(); ++i) take_in(i);
  sent_ = false;
}

void DividedKernels::turn_pages() {
  for (const auto& kernel : kernels_) {
    for (Outbox& outbox : kernel->outboxes_) outbox.turn_page();
  }
  sent_ = true;
  // Sources are counted anew where nobody uses them, with all that they have sent in the queues. A window
  // adds little to what a count has room for.
  const auto due = [](const auto& kernel) { return kernel->events_ >= kernel->count_anew_at_; };
  if (std::ranges::none_of(kernels_, due)) return;
  take_in_all();
  control().count_anew();
}

void DividedKernels::run_part(std::size_t index, Time end) {
  Kernel& kernel = part(index);
  take_in(index + 1);
  for (Time before{-1}; kernel.run(end - Time{1}, kMostAtOnce) == kMostAtOnce;) {
    if (std::exchange(before, kernel.now()) == kernel.now()) return;  // it is stuck at an instant
  }
}

void DividedKernels::run_parts_of(std::size_t thread, Time end) {
  for (std::size_t part = thread; part < parts(); part += threads_) {
    try {
      run_part(part, end);
    } catch (...) {
      thrown_[part] = std::current_exception();
    }
  }
}

void DividedKernels::run_side_by_side(Time end, const std::function<void()>& meanwhile) {
  take_what_came_between();
  ensure(control().next_event_time() >= end, "parts run side by side while the control acts");
  ensure(group_.settling.empty(), "parts run side by side from within an instant");
  group_.one_thread = false;
  std::ranges::fill(thrown_, nullptr);
  std::atomic<bool> others_work{true};
  std::exception_ptr thrown_meanwhile;
  team_.run([&](std::size_t thread) {
    run_parts_of(thread, end);
    if (!meanwhile || !others_work.exchange(false, std::memory_order_relaxed)) return;
    try {
      meanwhile();
    } catch (...) {
      thrown_meanwhile = std::current_exception();
    }
  });
  group_.one_thread = true;
  if (thrown_meanwhile) std::rethrow_exception(thrown_meanwhile);
  const Kernel* first = nullptr;
  std::exception_ptr thrown;
  stuck_ = nullptr;
  for (std::size_t i = 0; i < parts(); ++i) {
    if (thrown_[i] && (!first || part(i).now() < first->now())) {
      first = &part(i);
      thrown = thrown_[i];
    }
    if (part(i).next_event_time() < end) stuck_ = &part(i);
  }
  if (first) {
    now_ = control().now_ = first->now();
    std::rethrow_exception(thrown);
  }
  now_ = end - Time{1};
  control().now_ = now_;
  turn_pages();
}

Time DividedKernels::top_time() {
  Time next = Time::max();
  for (const auto& kernel : kernels_) {
    if (!kernel->queue_.empty()) next = std::min(next, kernel->queue_.top().time);
  }
  return next;
}

Kernel* DividedKernels::next_kernel(Time at) {
  Kernel* first = nullptr;
  for (const auto& kernel : kernels_) {
    if (kernel->queue_.empty() || kernel->queue_.top().time != at) continue;
    if (!first || kernel->queue_.top().order < first->queue_.top().order) first = kernel.get();
  }
  return first;
}

// In the order in which they asked, as at the end of an instant of a single kernel. False: nobody has asked.
bool DividedKernels::settle_all() {
  if (group_.settling.empty()) return false;
  std::vector<std::size_t> at(kernels_.size(), 0);
  std::vector<Kernel*> order;
  order.swap(group_.settling);
  for (const auto& kernel : kernels_) kernel->settling_now_.swap(kernel->settling_);
  for (Kernel* kernel : order) {
    EventHandler* const handler = kernel->settling_now_[at[kernel->index_]++];
    try {
      handler->settle();
    } catch (...) {
      kernel->failed_ = handler;
      throw;
    }
  }
  for (const auto& kernel : kernels_) kernel->settling_now_.clear();
  return true;
}

bool DividedKernels::run_merged(Time end, std::uint64_t max_events) {
  bool whole = true;
  take_what_came_between();
  stuck_ = nullptr;
  take_in_all();
  while (!all_idle()) {
    const Time at = top_time();
    if (at > now_ && settle_all()) continue;
    if (at >= end) break;
    if (max_events-- == 0) {
      whole = false;
      break;
    }
    if (at > now_) move_to(at);
    next_kernel(at)->run_top();
  }
  turn_pages();
  return whole;
}

}  // namespace cxloom

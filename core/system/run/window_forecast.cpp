#include "system/run/window_forecast.hpp"

#include <algorithm>

#include "coherence/cache/agent.hpp"
#include "component/component.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// The least time for which a request has its place in the queue; none is known to be zero. A link in an
/// outage may answer requests at once, and so may memory of the device itself.
Time least_time(const System& system, const Component& component, const Requester& requester) {
  if (const CacheAgent* const cache = requester.cache()) return cache->levels().access_time(0);
  if (system.roles().of<MemoryOwner>(component.id())) return Time{};
  if (system.roles().of<TransferEngine>(component.id())) return Time{};  // a copy is many requests
  Time least = Time::max();
  for (const System::LinkView& link : system.links()) {
    if (&link.forward->owner() != &component && &link.backward->owner() != &component) continue;
    if (link.params->outage.fail) return Time{};
    least = std::min(least, link.forward->flight() + link.backward->flight());
  }
  return least == Time::max() ? Time{} : least;
}

}  // namespace

WindowForecast::WindowForecast(const WholeRun& whole, const System& system, Time window)
    : whole_(whole), most_answers_(0) {
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!requester->has_work()) continue;
    const Time least = least_time(system, *component, *requester);
    const std::uint64_t queue = requester->traits().queue;
    std::optional<std::uint64_t> most;
    // The end of a window is of the next one.
    if (least > Time{}) most = queue * static_cast<std::uint64_t>((window.ps() - 1) / least.ps() + 1);
    issuers_.push_back({requester, most});
    if (most_answers_ && most) *most_answers_ += *most + queue;
    else most_answers_.reset();
  }
}

std::uint64_t WindowForecast::left_of(const Requester& requester, NextOfAll next) const {
  if (next == NextOfAll::kTaskEnds) return whole_.accesses_of_task(requester);
  const Requester::Progress progress = requester.progress();
  if (next != NextOfAll::kAllWarm) return progress.left_at_least;
  if (requester.warm()) return 0;
  // A requester that has run out of work is warm, too.
  return std::min(progress.left_at_least, progress.warmup - std::min(progress.warmup, progress.issued));
}

// By the requester on which it depends: the one that is out of work first, or last.
std::uint64_t WindowForecast::windows_until(NextOfAll next) const {
  constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  std::uint64_t first = kEndless;
  std::uint64_t last = 0;
  for (const Issuer& issuer : issuers_) {
    // One that has crashed is through: it closes no window.
    if (next == NextOfAll::kFirstOutOfWork && issuer.requester->finished()) continue;
    const std::uint64_t left = left_of(*issuer.requester, next);
    // The last request is not to be issued.
    std::uint64_t windows = issuer.most && left > 0 ? (left - 1) / *issuer.most : 0;
    if (left == kEndless) windows = kEndless;
    first = std::min(first, windows);
    last = std::max(last, windows);
  }
  return next == NextOfAll::kFirstOutOfWork || next == NextOfAll::kTaskEnds ? first : last;
}

bool WindowForecast::far(NextOfAll next) {
  if (next != granted_for_ || passed_ >= granted_) {
    granted_for_ = next;
    granted_ = std::min(windows_until(next), kMostGranted);
    passed_ = 0;
  }
  return passed_ < granted_;
}

}  // namespace cxloom

#include "system/run/window_forecast.hpp"

#include <algorithm>

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// The least time for which a request has its place in the queue. What it takes until it leaves is sure: a
/// link in an outage may answer requests at once, and so may memory of the device itself, and a home there.
Time least_time(const System& system, const Component& component, const Requester& requester) {
  const Time process_time = requester.traits().process_time;
  if (const CacheAgent* const cache = requester.cache()) return process_time + cache->levels().access_time(0);
  if (system.roles().of<MemoryOwner>(component.id()) || system.roles().of<CoherenceHome>(component.id()))
    return process_time;
  Time way = Time::max();
  for (const System::LinkView& link : system.links()) {
    if (&link.forward->owner() != &component && &link.backward->owner() != &component) continue;
    if (link.params->outage.fail) return process_time;
    way = std::min(way, link.forward->flight() + link.backward->flight());
  }
  return way == Time::max() ? process_time : process_time + way;
}

/// Requests that a queue lets through in a window; none: nothing bounds them.
std::optional<std::uint64_t> most_in(Time window, std::uint64_t queue, Time least) {
  if (least == Time{}) return std::nullopt;
  // The end of a window is of the next one.
  return queue * static_cast<std::uint64_t>((window.ps() - 1) / least.ps() + 1);
}

}  // namespace

// A store that a combining buffer takes is over as soon as it is there, which `process_time` alone bounds: a
// buffer takes those to memory of some types, and those that are made to go past the caches.
WindowForecast::WindowForecast(const WholeRun& whole, const System& system, Time window) : whole_(whole) {
  const bool typed = system.address_map().has_types();
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!requester->has_work()) continue;
    const Requester::Traits traits = requester->traits();
    Issuer issuer{requester, traits.queue, {}, {}};
    // A copy is many requests.
    if (!system.roles().of<TransferEngine>(component->id())) {
      issuer.most_past = most_in(window, traits.queue, traits.process_time);
      issuer.most = typed ? issuer.most_past
                          : most_in(window, traits.queue, least_time(system, *component, *requester));
    }
    issuers_.push_back(issuer);
  }
}

std::uint64_t WindowForecast::left_of(const Requester& requester, const Requester::Progress& progress,
                                      NextOfAll next) const {
  if (next == NextOfAll::kTaskEnds) return whole_.accesses_of_task(requester);
  if (next != NextOfAll::kAllWarm) return progress.left_at_least;
  if (requester.warm()) return 0;
  // A requester that has run out of work is warm, too.
  return std::min(progress.left_at_least, progress.warmup - std::min(progress.warmup, progress.issued));
}

// By the requester on which it depends: the one that is out of work first, or last.
std::uint64_t WindowForecast::windows_until(NextOfAll next) {
  constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  std::uint64_t first = kEndless;
  std::uint64_t last = 0;
  most_answers_ = 0;
  for (const Issuer& issuer : issuers_) {
    // One that has crashed is through: it closes no window.
    if (next == NextOfAll::kFirstOutOfWork && issuer.requester->finished()) continue;
    const Requester::Progress progress = issuer.requester->progress();
    const std::optional<std::uint64_t>& most = progress.may_store_past ? issuer.most_past : issuer.most;
    if (most_answers_ && most) *most_answers_ += *most + issuer.queue;
    else most_answers_.reset();
    const std::uint64_t left = left_of(*issuer.requester, progress, next);
    // The last request is not to be issued.
    std::uint64_t windows = most && left > 0 ? (left - 1) / *most : 0;
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

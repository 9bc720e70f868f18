#include "system/run/livelock_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

LivelockWatch::LivelockWatch(const System& system, const RunParams& run)
    : system_(system), run_(run), warming_up_(run.warmup > 0) {}

void LivelockWatch::know_warmups() {
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    const std::size_t node = component->id().index();
    warmups_.resize(std::max(warmups_.size(), node + 1), 0);
    warmups_[node] = requester->progress().warmup;
  }
}

bool LivelockWatch::warms_up(const Request& request) const {
  return request.id < warmups_.at(request.requester().index());
}

// Nobody is told of the requests of transfers that a task has begun.
std::uint64_t LivelockWatch::answers() const {
  std::uint64_t sum = answers_;
  for (const auto& [component, engine] : system_.roles().all<TransferEngine>()) {
    if (const DmaInitiator* dma = engine->dma()) sum += dma->ended_requests();
  }
  return sum;
}

bool LivelockWatch::somebody_waits() const {
  return std::ranges::any_of(system_.roles().all<Requester>(), [&](const auto& each) {
    return each.role->outstanding() > 0 && !(warming_up_ && each.role->warm());
  });
}

// Each link of the way counts.
std::uint64_t LivelockWatch::deliveries() const {
  const Time now = next_look_ - Time{1};  // up to and including it everything has happened
  std::uint64_t messages = 0;
  for (const auto& end : system_.link_ends()) {
    end->catch_up(now);
    messages += end->monitor().messages_so_far(now);
  }
  return messages;
}

std::string LivelockWatch::no_answer() const {
  return std::string("no ") + (warming_up_ ? "warm-up " : "") + "request has completed ";
}

std::string LivelockWatch::look(Time next) {
  if (warming_up_) {
    warming_up_ = std::ranges::any_of(system_.roles().all<Requester>(), [](const auto& each) {
      return each.role->has_work() && !each.role->warm();
    });
  }
  const std::uint64_t answered = answers();
  const bool stuck = std::exchange(answers_before_, answered) == answered && somebody_waits();
  std::string why;
  if (stuck) {
    const std::uint64_t delivered = deliveries();
    if (!std::exchange(counting_, true)) {
      first_ = last_ = delivered;
      silent_ = 0;
    } else if (std::exchange(last_, delivered) != delivered) {
      silent_ = 0;
    } else {
      ++silent_;
    }
    if (delivered - first_ >= run_.livelock_deliveries) {
      why = no_answer() + "while links delivered " + counted(run_.livelock_deliveries, "message");
    } else if (silent_ >= kMostSilent) {
      why = no_answer() + "and no message was delivered in " + counted(kMostSilent, "span") + " of " +
            to_text(kEpoch) + " in which something happened";
    }
  }
  counting_ = stuck;
  if (why.empty()) next_look_ = Time{(next.ps() / kEpoch.ps() + 1) * kEpoch.ps()};
  return why;
}

// CXL.io goes on whatever happens, also beside a deadlock. Without it nothing is left to happen there.
std::string LivelockWatch::verdict(const std::string& why, const std::function<Time()>& play) {
  const auto& initiators = system_.roles().all<IoInitiator>();
  if (initiators.empty()) return "livelock: " + why;
  for (const auto& [component, initiator] : initiators) initiator->cease();
  counting_ = false;
  const std::uint64_t before = answers();
  for (Time next = play(); next != Time::max(); next = play()) {
    if (answers() != before || !look(next).empty()) return "livelock: " + why;
  }
  return somebody_waits() ? "deadlock: " + why + ", those of CXL.io aside" : "livelock: " + why;
}

std::string LivelockWatch::look_at_instant(const Kernel& kernel, std::uint64_t events) {
  if (&kernel != kernel_ || kernel.now() != instant_) {
    kernel_ = &kernel;
    instant_ = kernel.now();
    at_instant_ = 0;
    answers_before_instant_ = answers();
    seen_.clear();
    return {};
  }
  at_instant_ += events;
  if (at_instant_ < kMostAtOnce) return {};
  at_instant_ = 0;
  const std::uint64_t answered = answers();
  const bool completes = std::exchange(answers_before_instant_, answered) != answered;
  std::string why;
  if (!completes) {
    why = no_answer() + "in ";
  } else if (run_.warmup_time && instant_ < *run_.warmup_time) {
    // Time counts, which requests that take none do not bring on.
    why = "requests take no time, so that run.warmup_time does not end: ";
  } else {
    why = no_time_passes();
  }
  return why.empty() ? why : why + counted(kMostAtOnce, "event") + " at one instant";
}

// Nothing but time ends the work of a requester that goes round for ever, or polls what another one sets. If
// it makes a whole round at one instant no access of it takes any, and the next round will take none either.
// All that it had made before is a round at least. Empty: somebody else gets on, or that has not been seen
// yet.
std::string LivelockWatch::no_time_passes() {
  bool gets_on = seen_.empty();
  seen_.resize(system_.components().size());
  std::string names;
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    const Requester::Progress progress = requester->progress();
    const std::uint64_t outstanding = requester->outstanding();
    SeenRequester& seen = seen_[component->id().index()];
    const bool does_something = progress.issued != seen.issued || outstanding != seen.outstanding;
    seen.issued = progress.issued;
    seen.outstanding = outstanding;
    if (!progress.goes_round_for_ever) seen.round_begins.reset();
    else if (!seen.round_begins) seen.round_begins = progress.issued;
    if (!does_something) continue;
    gets_on |= !seen.round_begins || progress.issued < 2 * *seen.round_begins;
    names += (names.empty() ? "'" : ", '") + component->name() + "'";
  }
  return gets_on || names.empty() ? std::string()
                                  : "the requests of " + names + ", the same again and again, take no time: ";
}

}  // namespace cxloom

#include "interconnect/wire/credit_line.hpp"

#include "base/arena.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

CreditLine::CreditLine(const CreditUser& user, Time delay, ClassVc vc, std::optional<std::uint32_t> credits)
    : delay_(delay),
      user_(user),
      total_(credits.value_or(0)),
      mask_(std::bit_ceil(total_) - 1),
      vc_(vc),
      limited_(credits.has_value()) {}

// A link carries messages of a few classes: no credit of the others ever comes back.
void CreditLine::make_places() {
  place_.coming =
      static_cast<Time*>(user_.kernel.arena().memory().allocate(arena_bytes(total_), alignof(Time)));
}

void CreditLine::send(Time arrival) {
  place_.way->giver.send(place_.way->user, arrival, place_.way->lines + vc_,
                         [](void* line, Time at) { static_cast<CreditLine*>(line)->add(at); });
}

// Each time it is asked for alike, so that the order of the event says nothing of when that was.
void CreditLine::wake_user(Time at) {
  wake_before_ = at;
  user_.kernel.schedule_uncounted(at, user_.source, user_.user, vc_);
}

}  // namespace cxloom

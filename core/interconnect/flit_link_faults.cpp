// What goes wrong on a link of flits: corrupted flits are sent again, and while the link is down requests may fail.
#include <algorithm>

#include "base/error.hpp"
#include "interconnect/flit_link_end.hpp"

namespace cxloom {

namespace {

/// Flits of link control that ask for a retry, and that announce it. 68B (link layer retry): five RETRY.Frame flits
/// before RETRY.Req and before RETRY.Ack. 256B (physical layer replay): a Nak, and the flits come again at once.
/// CXL 3.x, sections 4.2.8 and 6.2, recalled.
constexpr unsigned asking_flits(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 1; }
constexpr unsigned answering_flits(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 0; }

}  // namespace

// --- Retries ---

/// Sends a corrupted flit until it arrives whole. What would start while the link is down starts when it is up again.
void FlitLinkEnd::retry(Passed& passed) {
  // The receiver sees it when the flit is in, and asks for it; what was sent meanwhile is sent again as well.
  const unsigned asking = asking_flits(packer_.mode());
  do {
    const Time seen = when_up(passed.end + flight());
    far_->expect_control(asking, seen);
    Time next = when_up(seen + far_->flit_time() * asking + far_->flight());
    const unsigned answering = answering_flits(packer_.mode());
    if (answering > 0) {
      const std::uint64_t bytes = std::uint64_t{answering} * geometry_.bytes;
      next = when_up(wire().carry(bytes, next, next, direction()).end);
      flits_.count_control(answering);
    }
    const Wire::Use use = wire().carry(geometry_.bytes, next, next, direction());
    flits_.count_retry(use.start - passed.start);
    passed.bytes += (1 + answering) * geometry_.bytes;
    passed.start = use.start;
    passed.end = use.end;
  } while (errors_.corrupts_again());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Message& waiting = *lines_[i].message;
    if (!waiting.account) continue;
    waiting.charge(Segment::kSerialization, std::max(waiting.account->mark, passed.first_start));
    waiting.charge(Segment::kRetry, std::max(waiting.account->mark, passed.start));
  }
}

/// When a flit that could start at `at` may, of an outage that has begun or will have by then.
Time FlitLinkEnd::when_up(Time at) const {
  const bool down = outage_.at && at >= *outage_.at && at < *outage_.at + outage_.length;
  return down ? *outage_.at + outage_.length : at;
}

void FlitLinkEnd::send_control(Time now) {
  const std::uint32_t bytes = control_due_ * geometry_.bytes;
  const Wire::Use use = wire().carry(bytes, now, now, direction());
  monitor().book({use.start, use.start, use.end, bytes, 0, 0}, now);
  flits_.count_control(control_due_);
  control_due_ = 0;
}

void FlitLinkEnd::expect_control(unsigned flits, Time at) {
  control_from_ = control_due_ > 0 ? std::min(control_from_, at) : at;
  control_due_ += flits;
  wake_by(std::max({at, wire().free_at(), up_at_}));
}

// --- Outages ---

// While the link is down: requests that want to cross it are answered here, by the device in front of it.
void FlitLinkEnd::fail_requests(Time now) {
  for (const Channel which : {Channel::kM2SReq, Channel::kM2SRwD}) {
    while (!channel(which).waits.empty()) {
      Feeder* feeder = pick_of(which);
      Message& message = feeder->head();
      left(which);
      feeder->taken(now);
      fail(message, now);
    }
  }
}

// The link has just gone down: requests that have not begun to cross it give their credits back.
void FlitLinkEnd::fail_staged_requests(Time now) {
  for (const Channel which : {Channel::kM2SReq, Channel::kM2SRwD}) {
    staging_.remove_untouched(which, [&](Message& message) {
      if (limits(which)) credit_comes(which, now);
      fail(message, now);
    });
  }
}

void FlitLinkEnd::fail(Message& message, Time now) {
  ensure(message.opcode == Opcode::kMemRd || message.opcode == Opcode::kMemWr,
         "an outage answers reads and writes alone");
  monitor().queue().change(now, -1);
  message.charge(queue_segment(), now);
  message.tail = Time{};
  message.opcode = message.opcode == Opcode::kMemRd ? Opcode::kMemDataNxm : Opcode::kCmp;
  message.channel = channel_of(message.opcode);
  message.size = 0;  // nothing was moved
  message.failed = true;
  message.destination = message.source;
  message.source = owner().id();
  ++not_from_far_[static_cast<std::size_t>(message.channel)];
  return_to_owner(message);
}

}  // namespace cxloom

#include "interconnect/flit/retries.hpp"

#include <algorithm>

#include "interconnect/wire/link_path_delivery.hpp"

namespace cxloom {

namespace {

/// Flits of link control that ask for a retry, and that announce it. 68B (link layer retry): five RETRY.Frame
/// flits before RETRY.Req and before RETRY.Ack. 256B (physical layer replay): a Nak, and the flits come again
/// at once. CXL 3.x, sections 4.2.8 and 6.2, recalled.
constexpr unsigned asking_flits(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 1; }
constexpr unsigned answering_flits(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 0; }

}  // namespace

FlitRetries::FlitRetries(LinkPath& path, const FlitOutage& outage, FlitMonitor& flits, TurnAlarm& alarm,
                         const LinkErrorParams& errors, std::uint64_t seed)
    : path_(path),
      outage_(outage),
      flits_(flits),
      alarm_(alarm),
      geometry_(geometry(flits.mode())),
      errors_(errors, flits.mode(), seed, path.name()) {}

void FlitRetries::connect(FlitRetries& far) {
  far_ = &far;
  far_rate_ = far.path_.rate();
  far_flight_ = far.path_.flight();
}

void FlitRetries::send_again(FlitPassage& passed) {
  Wire& wire = path_.wire();
  // The receiver sees it when the flit is in, and asks for it; what was sent meanwhile is sent again as well.
  const unsigned asking = asking_flits(flits_.mode());
  const Time far_flit = RateMeter(far_rate_).advance(geometry_.bytes);
  do {
    const Time seen = outage_.when_up(passed.end + path_.flight());
    if (outage_.fails_by(seen)) return give_up(passed);
    path_.wake_far(*far_, seen, 0, asking);
    Time next = outage_.when_up(seen + far_flit * asking + far_flight_);
    if (outage_.fails_by(next)) return give_up(passed);
    const unsigned answering = answering_flits(flits_.mode());
    if (answering > 0) {
      const std::uint64_t bytes = std::uint64_t{answering} * geometry_.bytes;
      next = outage_.when_up(wire.carry(bytes, next, next, path_.direction()).end);
      flits_.count_control(answering);
      passed.bytes += answering * geometry_.bytes;
      if (outage_.fails_by(next)) return give_up(passed);
    }
    const Wire::Use use = wire.carry(geometry_.bytes, next, next, path_.direction());
    flits_.count_retry(use.start - passed.start);
    passed.bytes += geometry_.bytes;
    passed.start = use.start;
    passed.end = use.end;
  } while (errors_.corrupts_again());
}

void FlitRetries::give_up(FlitPassage& passed) {
  passed.arrives = false;
  passed.end = path_.wire().carry(0, outage_.fails_at(), outage_.fails_at(), path_.direction()).end;
}

void FlitRetries::send_control(Time now) {
  const std::uint32_t bytes = control_due_ * geometry_.bytes;
  const Wire::Use use = path_.wire().carry(bytes, now, now, path_.direction());
  path_.monitor().book({use.start, use.start, use.end, bytes, 0, 0}, now);
  flits_.count_control(control_due_);
  control_due_ = 0;
}

void FlitRetries::wake(std::uint8_t /*kind*/, std::uint64_t flits) {
  control_due_ += static_cast<std::uint32_t>(flits);
  alarm_.wake_by(std::max({path_.kernel().now(), path_.wire().free_at(), outage_.up_at()}));
}

}  // namespace cxloom

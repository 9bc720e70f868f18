#include "system/serving/declared_transport.hpp"

#include <algorithm>

namespace cxloom {

namespace {

/// Bytes a second; zero is no limit.
double limit_of(const Bandwidth& bandwidth) {
  return bandwidth.rate.unlimited() ? 0.0 : bandwidth.rate.per_second();
}

}  // namespace

DeclaredTransport::DeclaredTransport(const std::vector<KvTierParams>& tiers, std::uint32_t servers)
    : servers_(servers) {
  for (const KvTierParams& tier : tiers) {
    const double each = limit_of(tier.bandwidth);
    const double together = tier.shared ? limit_of(tier.together.value_or(tier.bandwidth)) : 0.0;
    for (int direction = 0; direction < 2; ++direction) {
      // A way that a server has alone knows no other.
      const SharedPipe pipe(tier.shared ? servers : 1, each, together, tier.latency);
      ways_.push_back({tier.shared, each, together, std::vector(tier.shared ? 1 : servers, pipe)});
    }
  }
}

void DeclaredTransport::begin(Time now, const KvMove& move) {
  Way& taken = way(move.tier, move.write);
  SharedPipe& pipe = taken.pipes[taken.pipe_of(move.server)];
  pipe.begin(now, taken.place_of(move.server), move.bytes, move.ticket);
}

Time DeclaredTransport::next() const {
  Time next = Time::max();
  for (const Way& each : ways_) {
    for (const SharedPipe& pipe : each.pipes) next = std::min(next, pipe.next());
  }
  return next;
}

void DeclaredTransport::advance(Time until, std::vector<std::uint64_t>& done) {
  for (Way& each : ways_) {
    for (SharedPipe& pipe : each.pipes) pipe.advance(until, done);
  }
}

Time DeclaredTransport::estimate(Time /*now*/, const KvMove& move) const {
  const Way& taken = way(move.tier, move.write);
  return taken.pipes[taken.pipe_of(move.server)].estimate(taken.place_of(move.server), move.bytes);
}

KvWayUse DeclaredTransport::used(std::uint32_t tier, bool write) const {
  const Way& asked = way(tier, write);
  double bytes = 0;
  for (const SharedPipe& pipe : asked.pipes) bytes += pipe.moved();
  return {.own = asked.each > 0 ? bytes / asked.each / servers_ : 0,
          .together = asked.together > 0 ? bytes / asked.together : 0};
}

}  // namespace cxloom

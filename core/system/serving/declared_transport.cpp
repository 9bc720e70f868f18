#include "system/serving/declared_transport.hpp"

#include <algorithm>

namespace cxloom {

namespace {

/// Bytes a second; zero is no limit.
double limit_of(const Bandwidth& bandwidth) {
  return bandwidth.rate.unlimited() ? 0.0 : bandwidth.rate.per_second();
}

}  // namespace

DeclaredTransport::DeclaredTransport(const std::vector<KvTierParams>& tiers, std::uint32_t servers) {
  for (const KvTierParams& tier : tiers) {
    const double each = limit_of(tier.bandwidth);
    const double together = tier.shared ? limit_of(tier.together.value_or(tier.bandwidth)) : 0.0;
    for (int direction = 0; direction < 2; ++direction) {
      ways_.emplace_back();
      ways_.back().pipes.assign(tier.shared ? 1 : servers, SharedPipe(servers, each, together, tier.latency));
    }
  }
}

void DeclaredTransport::begin(Time now, const KvMove& move) {
  Way& taken = way(move.tier, move.write);
  taken.pipes[taken.pipes.size() == 1 ? 0 : move.server].begin(now, move.server, move.bytes, move.ticket);
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
  return taken.pipes[taken.pipes.size() == 1 ? 0 : move.server].estimate(move.server, move.bytes);
}

Time DeclaredTransport::busy(std::uint32_t tier, bool write) const {
  const Way& asked = way(tier, write);
  Time sum;
  for (const SharedPipe& pipe : asked.pipes) sum += pipe.busy();
  return Time{sum.ps() / static_cast<std::int64_t>(asked.pipes.size())};
}

}  // namespace cxloom

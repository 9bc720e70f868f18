#include "interconnect/link/link.hpp"

#include <memory>
#include <string>
#include <utility>

#include "base/arena.hpp"
#include "base/error.hpp"
#include "base/kind_registry.hpp"
#include "interconnect/flit/batched_transmitter.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/link/interruptible_transmitter.hpp"
#include "interconnect/link/message_transmitter.hpp"

namespace cxloom {

namespace {

Bandwidth slower(Bandwidth a, Bandwidth b) { return b.rate.slower_than(a.rate) ? b : a; }

FlitSetup flit_setup(const LinkParams& params, const VirtualChannels::Setup& channels, std::uint64_t seed,
                     bool may_fail) {
  FlitSetup setup{channels};
  setup.sender.packing.mode = params.flit_mode();
  if (params.ide.mode != IdeMode::kOff) {
    const std::uint32_t usual = setup.sender.packing.mode == FlitMode::k68B ? 5 : 2;
    setup.sender.packing.mac_every = static_cast<std::uint8_t>(params.ide.aggregation.value_or(usual));
  }
  setup.sender.containment = params.ide.mode == IdeMode::kContainment;
  setup.errors = params.errors;
  setup.outage = params.outage;
  setup.degraded_at = params.degraded.at;
  if (params.degraded.phy) setup.degraded_rate = params.rate_of(*params.degraded.phy);
  setup.seed = seed;
  setup.may_fail = may_fail;
  return setup;
}

}  // namespace

InArena<Transmitter> make_flit_transmitter(LinkPath& path, const FlitSetup& setup) {
  Arena& arena = path.kernel().arena();
  if (BatchedFlitTransmitter::possible(path, setup))
    return arena.make<BatchedFlitTransmitter>(path, setup.sender);
  return arena.make<FlitTransmitter>(path, setup);
}

std::uint64_t link_bytes(const LinkParams& params, unsigned arbitrating, std::span<const Channel> classes) {
  // Besides the ends: its names, its places in lists, and its hops in the topology.
  constexpr std::uint64_t kElse = 512;
  const bool both = params.in_flits() || params.credits.any() || params.duplex == Duplex::kHalf;
  const std::uint64_t queued = both ? 2 : arbitrating;
  constexpr std::uint64_t kLine = alignof(LinkEnd);  // with which the next thing in the arena begins
  const std::uint64_t transmitter = params.in_flits() ? sizeof(FlitTransmitter) : sizeof(MessageTransmitter);
  const std::uint64_t channels =
      std::uint64_t{params.virtual_channels} * kChannelCount * sizeof(VirtualChannel);
  const std::uint64_t lines =
      params.credits.any() ? params.virtual_channels * kChannelCount * sizeof(CreditLine) : 0;
  std::uint64_t rings = 0;
  for (const Channel each : classes) {
    if (const auto limit = params.credits.of(each))
      rings += params.virtual_channels * CreditLine::arena_bytes(*limit);
  }
  const std::uint64_t turns =
      params.turnaround > Time{} ? (sizeof(WireMonitor) + kLine - 1) / kLine * kLine : 0;
  const std::uint64_t before_channels = (transmitter + kLine - 1) / kLine * kLine;
  return kElse + turns + 2 * sizeof(LinkEnd) + queued * (before_channels + channels + lines + rings);
}

Link make_link(const LinkParams& params, const LinkSide& first, const LinkSide& second, std::uint64_t seed,
               bool may_fail) {
  Component& a = first.component;
  Component& b = second.component;
  const bool shared = params.duplex == Duplex::kHalf;
  const Bandwidth ports = slower(a.port_bandwidth(), b.port_bandwidth());
  const Bandwidth own = params.phy ? Bandwidth{params.rate_of(*params.phy)} : params.bandwidth;
  const Bandwidth forward = slower(own, ports);
  const Bandwidth backward = slower(params.reverse.bandwidth.value_or(own), ports);

  const Time port_delays = params.port_delay ? *params.port_delay * 2 : a.port_delay() + b.port_delay();
  const Time delay_ab = params.flight();
  const Time delay_ba = params.flight_back();
  const auto segment = [](const Component& owner) {
    return owner.is_switch() ? Segment::kSwitchQueue : Segment::kLinkQueue;
  };
  LinkPath::Setup to_b{a, b,           second.port, first.port,    Wire(forward.rate, params.turnaround),
                       0, port_delays, delay_ab,    params.cost(), segment(a)};
  LinkPath::Setup to_a{b, a,           first.port, second.port,   Wire(backward.rate),
                       1, port_delays, delay_ba,   params.cost(), segment(b)};
  // Credits, and turns on a wire that both directions share, need a queue at both ends.
  const bool both = params.in_flits() || params.credits.any() || (shared && !forward.rate.unlimited());
  const auto make_end = [&](const LinkSide& side, const LinkPath::Setup& setup, Time back) {
    Arena& arena = side.kernel.arena();
    auto end = arena.make<LinkEnd>(side.kernel, setup);
    VirtualChannels::Setup channels{params.credits, port_delays + back + params.credit_time,
                                    params.virtual_channels};
    if (params.in_flits()) channels.flits = params.flit_mode();
    if (params.in_flits()) {
      end->set_transmitter(make_flit_transmitter(end->path(), flit_setup(params, channels, seed, may_fail)));
    } else if (both || setup.owner.arbitrates()) {
      end->set_transmitter(arena.make<MessageTransmitter>(end->path(), channels));
    } else if (may_fail) {
      end->set_transmitter(arena.make<InterruptibleTransmitter>(end->path()));
    }
    return end;
  };
  to_b.far_kernel = &second.kernel;
  to_a.far_kernel = &first.kernel;
  Link link;
  link.forward = make_end(first, to_b, delay_ba);
  if (shared) to_a.shares_wire = &link.forward->path();
  link.backward = make_end(second, to_a, delay_ab);
  link.forward->connect(*link.backward);
  link.backward->connect(*link.forward);
  a.attach(*link.forward);
  b.attach(*link.backward);
  return link;
}

void make_arbiters(Component& owner, const ArbitrationRegistry& kinds, std::uint64_t seed,
                   const ArbitrationNames& names) {
  const KindSpec* const kind = owner.arbitration();
  if (!kind) return;
  for (std::size_t i = 0; i < owner.port_count(); ++i) {
    VirtualChannels* const channels = VirtualChannels::of(owner.port(i));
    if (!channels) continue;
    const std::string name = owner.name() + ":" + std::to_string(i);
    ArbitrationContext context{
        owner, static_cast<std::uint16_t>(i), {seed, name, "arbitration"}, channels->cost(), &names};
    with_path("devices." + owner.name() + ".arbitration", [&] {
      std::unique_ptr<Arbiter> arbiter = kinds.make(*kind, context);
      if (!arbiter->takes_turns()) channels->arbitrate_by(std::move(arbiter));
    });
  }
}

}  // namespace cxloom

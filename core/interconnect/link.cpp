#include "interconnect/link.hpp"

#include "interconnect/batched_flit_link_end.hpp"
#include "interconnect/message_link_end.hpp"

namespace cxloom {

namespace {

Bandwidth slower(Bandwidth a, Bandwidth b) { return b.rate.slower_than(a.rate) ? b : a; }

std::unique_ptr<LinkEnd> make_flit_end(Kernel& kernel, const LinkParams& params, const LinkEndSetup& link,
                                       Time credit_delay, std::uint64_t seed) {
  FlitLinkEnd::Setup setup{{link, params.credits, link.owner.arbitration(), credit_delay}};
  setup.packing.mode = params.flit_mode();
  if (params.ide.mode != IdeMode::kOff) {
    const std::uint32_t usual = setup.packing.mode == FlitMode::k68B ? 5 : 2;
    setup.packing.mac_every = static_cast<std::uint8_t>(params.ide.aggregation.value_or(usual));
  }
  setup.containment = params.ide.mode == IdeMode::kContainment;
  setup.errors = params.errors;
  setup.outage = params.outage;
  setup.degraded_at = params.degraded.at;
  if (params.degraded.phy) setup.degraded_rate = params.rate_of(*params.degraded.phy);
  setup.seed = seed;
  return make_flit_link_end(kernel, setup);
}

}  // namespace

std::uint64_t link_bytes(const LinkParams& params) {
  // Besides the ends: its names, its places in lists, and its hops in the topology.
  constexpr std::uint64_t kElse = 512;
  if (params.phy) return kElse + 2 * sizeof(FlitLinkEnd);
  return kElse + 2 * (params.credits.any() ? sizeof(MessageLinkEnd) : sizeof(FifoLinkEnd));
}

Link make_link(Kernel& kernel, const LinkParams& params, const LinkSide& first, const LinkSide& second,
               std::uint64_t seed) {
  Component& a = first.component;
  Component& b = second.component;
  const bool shared = params.duplex == Duplex::kHalf;
  const Bandwidth ports = slower(a.port_bandwidth(), b.port_bandwidth());
  const Bandwidth own = params.phy ? Bandwidth{params.rate_of(*params.phy)} : params.bandwidth;
  const Bandwidth forward = slower(own, ports);
  const Bandwidth backward = slower(params.reverse.bandwidth.value_or(own), ports);

  const Time port_delays = params.port_delay ? *params.port_delay * 2 : a.port_delay() + b.port_delay();
  const Time delay_ab = params.delay;
  const Time delay_ba = params.reverse.delay.value_or(params.delay);
  const auto segment = [](const Component& owner) {
    return owner.is_switch() ? Segment::kSwitchQueue : Segment::kLinkQueue;
  };
  const LinkEndSetup to_b{a, b,           second.port, first.port,    Wire(forward.rate, params.turnaround),
                          0, port_delays, delay_ab,    params.cost(), segment(a)};
  LinkEndSetup to_a{b, a,           first.port, second.port,   Wire(backward.rate),
                    1, port_delays, delay_ba,   params.cost(), segment(b)};
  // Credits, and turns on a wire that both directions share, need a queue at both ends.
  const bool both = params.phy || params.credits.any() || (shared && !forward.rate.unlimited());
  const bool queued_a = both || a.arbitrates();
  const bool queued_b = both || b.arbitrates();
  const auto make_end = [&](bool queued, const LinkEndSetup& setup, Time back) -> std::unique_ptr<LinkEnd> {
    const Time credit_delay = port_delays + back;
    if (params.phy) return make_flit_end(kernel, params, setup, credit_delay, seed);
    if (!queued) return std::make_unique<FifoLinkEnd>(kernel, setup);
    return std::make_unique<MessageLinkEnd>(
        kernel, QueuedLinkEnd::Setup{setup, params.credits, setup.owner.arbitration(), credit_delay});
  };
  Link link;
  link.forward = make_end(queued_a, to_b, delay_ba);
  if (shared) to_a.shares_wire = link.forward.get();
  link.backward = make_end(queued_b, to_a, delay_ab);
  if (queued_a && queued_b) {
    auto& end_a = static_cast<QueuedLinkEnd&>(*link.forward);
    auto& end_b = static_cast<QueuedLinkEnd&>(*link.backward);
    end_a.set_opposite(end_b);
    end_b.set_opposite(end_a);
  }
  a.attach(*link.forward);
  b.attach(*link.backward);
  return link;
}

}  // namespace cxloom

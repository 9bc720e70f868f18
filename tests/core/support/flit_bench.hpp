// Two components, probes as a rule, joined by a link of flits.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "core/support/link_bench.hpp"
#include "interconnect/batched_flit_link_end.hpp"

namespace cxloom::test {

inline constexpr FlitMode kFlitModes[] = {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo,
                                          FlitMode::k256BPbr};

/// What a link of flits between `a` and `b` is like. The wire takes 10 ps a byte, so that every flit, and every half of
/// one, is a whole number of picoseconds: 680 ps (68B), 2560 ps (256B).
struct FlitLinkOf {
  FlitMode mode = FlitMode::k256B;
  Rate rate = Rate::per_time(1, 10);
  Time port_delays{};  ///< of both ends together
  Time delay{};
  ClassCredits credits{};
  std::uint8_t mac_every = 0;
  bool containment = false;
  LinkErrorParams errors{};
  OutageParams outage{};
  std::optional<Time> degraded_at{};
  Rate degraded_rate{};
  std::uint64_t seed = 1;

  Time flit() const { return RateMeter(rate).advance(geometry(mode).bytes); }
  Time half() const { return Time{flit().ps() / 2}; }
  Time flight() const { return port_delays + delay; }
};

class FlitLink {
 public:
  FlitLink(Kernel& kernel, Component& a, Component& b, const FlitLinkOf& link)
      : ends_{make_flit_link_end(kernel, setup(link, a, b, 0)),
              make_flit_link_end(kernel, setup(link, b, a, 1))},
        a_to_b(*ends_[0]),
        b_to_a(*ends_[1]) {
    a_to_b.set_opposite(b_to_a);
    b_to_a.set_opposite(a_to_b);
    a.attach(a_to_b);
    b.attach(b_to_a);
  }
  void open(Time now) {
    a_to_b.open_window(now);
    b_to_a.open_window(now);
  }
  void close(Time now) {
    a_to_b.close_window(now);
    b_to_a.close_window(now);
  }

 private:
  static FlitLinkEnd::Setup setup(const FlitLinkOf& link, Component& from, Component& to,
                                  unsigned direction) {
    const LinkEndSetup ends{
        from, to, 0, 0, Wire(link.rate), direction, link.port_delays, link.delay, {}, Segment::kLinkQueue};
    FlitLinkEnd::Setup setup{
        {ends, link.credits, Arbitration::kRoundRobin, link.flight()}, {}, false, {}, {}, {}, {}};
    setup.packing.mode = link.mode;
    setup.packing.mac_every = link.mac_every;
    setup.containment = link.containment;
    setup.errors = link.errors;
    setup.outage = link.outage;
    setup.degraded_at = link.degraded_at;
    setup.degraded_rate = link.degraded_rate;
    setup.seed = link.seed;
    return setup;
  }

  std::array<std::unique_ptr<FlitLinkEnd>, 2> ends_;

 public:
  FlitLinkEnd& a_to_b;
  FlitLinkEnd& b_to_a;
};

}  // namespace cxloom::test

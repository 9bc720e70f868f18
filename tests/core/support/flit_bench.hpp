// Two components, probes as a rule, joined by a link of flits.
#pragma once

#include <optional>

#include "core/support/flit_modes.hpp"
#include "core/support/link_bench.hpp"
#include "interconnect/flit/transmitter.hpp"
#include "interconnect/link/link.hpp"

namespace cxloom::test {

/// What a link of flits between `a` and `b` is like. The wire takes 10 ps per byte, so that every flit, and
/// every half of one, is a whole number of picoseconds: 680 ps (68B), 2560 ps (256B).
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
      : a_to_b(kernel, path(link, a, b, 0)), b_to_a(kernel, path(link, b, a, 1)) {
    for (LinkEnd* end : {&a_to_b, &b_to_a})
      end->set_transmitter(make_flit_transmitter(end->path(), setup(link)));
    a_to_b.connect(b_to_a);
    b_to_a.connect(a_to_b);
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
  static LinkPath::Setup path(const FlitLinkOf& link, Component& from, Component& to, unsigned direction) {
    return {
        from, to, 0, 0, Wire(link.rate), direction, link.port_delays, link.delay, {}, Segment::kLinkQueue};
  }
  static FlitSetup setup(const FlitLinkOf& link) {
    FlitSetup setup{{link.credits, link.flight()}};
    setup.sender.packing.mode = link.mode;
    setup.sender.packing.mac_every = link.mac_every;
    setup.sender.containment = link.containment;
    setup.errors = link.errors;
    setup.outage = link.outage;
    setup.degraded_at = link.degraded_at;
    setup.degraded_rate = link.degraded_rate;
    setup.seed = link.seed;
    return setup;
  }

 public:
  LinkEnd a_to_b;
  LinkEnd b_to_a;
};

}  // namespace cxloom::test

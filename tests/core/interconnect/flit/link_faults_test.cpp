// What goes wrong on a link of flits, and what guards it: retries, integrity checks, outages, degradation.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "core/support/flit_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FlitLink;
using test::FlitLinkOf;
using test::kAllEvents;
using test::Messages;
using test::Probe;

std::uint64_t all_flits(const FlitTotals& totals) {
  return std::accumulate(totals.flits.begin(), totals.flits.end(), std::uint64_t{0});
}
std::uint64_t control_flits(const FlitTotals& totals) {
  return totals.flits[static_cast<std::size_t>(FlitKind::kControl)];
}
std::uint64_t slots(const FlitTotals& totals, SlotKind kind) {
  return totals.slots[static_cast<std::size_t>(kind)];
}

/// Flits of link control of a retry: what asks for it, and what announces it.
std::int64_t asking(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 1; }
std::int64_t answering(FlitMode mode) { return mode == FlitMode::k68B ? 6 : 0; }
/// From the start of the flit that is corrupted to the start of its second transmission.
Time lost_time(const FlitLinkOf& of) {
  return of.flit() * (1 + asking(of.mode) + answering(of.mode)) + of.flight() * 2;
}

/// Writes of many lines fill every flit but the last one of each message.
struct Saturated {
  Kernel kernel;
  Probe a{kernel, "a"};
  Probe b{kernel, "b"};
  FlitLink link;
  Messages messages;

  Saturated(const FlitLinkOf& of, int writes) : link(kernel, a, b, of) {
    link.open(0_ps);
    for (int i = 0; i < writes; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
    kernel.run(Time::max(), kAllEvents);
    link.close(kernel.now());
  }
  FlitTotals totals() const { return link.a_to_b.flits()->totals(); }
  FlitTotals back() const { return link.b_to_a.flits()->totals(); }
};

TEST(FlitLinkErrors, EachCostsAFlitTwoFlightsAndTheFlitsOfLinkControl) {
  for (const FlitMode mode : test::kFlitModes) {
    for (const std::uint32_t every : {1U, 7U, 100U}) {
      FlitLinkOf of{.mode = mode, .port_delays = 20_ns, .delay = 3_ns};
      const Saturated without(of, 3000);
      of.errors.every = every;
      const Saturated with(of, 3000);
      ASSERT_EQ(with.b.arrivals.size(), 3000U);
      const std::uint64_t flits = all_flits(without.totals());
      const auto errors = static_cast<std::int64_t>(flits / every);
      EXPECT_EQ(with.totals().errors, static_cast<std::uint64_t>(errors));
      EXPECT_EQ(with.totals().retry_time, lost_time(of) * errors);
      EXPECT_EQ(with.b.arrivals.back().time, without.b.arrivals.back().time + lost_time(of) * errors);
      EXPECT_EQ(control_flits(with.totals()), static_cast<std::uint64_t>(errors * answering(mode)));
      EXPECT_EQ(control_flits(with.back()), static_cast<std::uint64_t>(errors * asking(mode)));
    }
  }
}

TEST(FlitLinkErrors, ARetryIsChargedToTheMessagesOfTheFlit) {
  for (const FlitMode mode : {FlitMode::k256B, FlitMode::k256BPbr}) {
    FlitLinkOf of{.mode = mode, .port_delays = 20_ns};
    of.errors.every = 2;
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    FlitLink link(kernel, a, b, of);
    Messages messages;
    Message& first = messages.tracked(Opcode::kMemRd);
    Message& second = messages.tracked(Opcode::kMemRd, 100_ns);
    Message& third = messages.tracked(Opcode::kMemRd, 100_ns + 1_ps);
    link.a_to_b.send(first, 0_ps);
    link.a_to_b.send(second, 100_ns);
    link.a_to_b.send(third, 100_ns + 1_ps);
    kernel.run(Time::max(), kAllEvents);
    EXPECT_EQ(Messages::segment(first, Segment::kRetry), 0_ps);
    EXPECT_EQ(Messages::segment(second, Segment::kRetry), lost_time(of));
    EXPECT_EQ(b.arrivals[1].time, 100_ns + lost_time(of) + of.flit() + 20_ns);
    // Messages behind it wait for the wire.
    EXPECT_EQ(Messages::segment(third, Segment::kRetry), 0_ps);
    EXPECT_EQ(Messages::segment(third, Segment::kLinkQueue), lost_time(of) + of.flit() - 1_ps);
  }
}

TEST(FlitLinkErrors, RetriesTakeTheWireOfTheOtherDirection) {
  // Both directions full, errors in both: each direction loses the flits that ask for the other's retries.
  FlitLinkOf of{.mode = FlitMode::k68B};
  of.errors.every = 10;
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, of);
  link.open(0_ps);
  Messages messages;
  for (int i = 0; i < 2000; ++i) {
    link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
    link.b_to_a.send(messages.make(Opcode::kMemData), 0_ps);
  }
  kernel.run(Time::max(), kAllEvents);
  link.close(kernel.now());
  EXPECT_EQ(a.arrivals.size(), 2000U);
  EXPECT_EQ(b.arrivals.size(), 2000U);
  for (const auto& [end, far] :
       {std::pair{&link.a_to_b, &link.b_to_a}, std::pair{&link.b_to_a, &link.a_to_b}}) {
    const FlitTotals totals = end->flits()->totals();
    EXPECT_GT(totals.errors, 0U);
    EXPECT_EQ(control_flits(totals), 6 * (totals.errors + far->flits()->totals().errors));
  }
}

TEST(FlitLinkErrors, AnAnswerThatIsReadyBeforeTheRetryIsAskedForDoesNotWaitForIt) {
  // a's second flit is corrupted, which b sees at 512.56 ns and then has to ask for again. Meanwhile b's wire
  // is free.
  FlitLinkOf of{.delay = 500_ns};
  of.errors.every = 2;
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (const Time ready : {0_ns, 10_ns}) link.a_to_b.send(messages.make(Opcode::kMemRd), ready);
  EventSource source = kernel.new_source();
  Message& first = messages.tracked(Opcode::kMemData, 60_ns);
  Message& second = messages.tracked(Opcode::kMemData, 100_ns);
  test::Actor sender([&](std::uint8_t, std::uint64_t) {
    link.b_to_a.send(first, 60_ns);
    link.b_to_a.send(second, 100_ns);
  });
  kernel.schedule(50_ns, source, sender, 0);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(Messages::segment(first, Segment::kLinkQueue), 0_ps);
  EXPECT_EQ(Messages::segment(second, Segment::kLinkQueue), 0_ps);
}

TEST(FlitLinkErrors, ABitErrorRateIsAnErrorRateOfFlits) {
  // Closed forms of independent bits: 68B fails with any wrong bit; 256B with two wrong bytes in one of three
  // groups.
  for (const double rate : {1e-6, 1e-5, 1e-4}) {
    EXPECT_NEAR(flit_error_probability(FlitMode::k68B, rate), -std::expm1(544 * std::log1p(-rate)), 1e-12);
    const double byte = -std::expm1(8 * std::log1p(-rate));
    const auto survives = [&](double n) {
      return std::pow(1 - byte, n) + n * byte * std::pow(1 - byte, n - 1);
    };
    EXPECT_NEAR(flit_error_probability(FlitMode::k256B, rate), 1 - survives(86) * survives(85) * survives(85),
                1e-12);
  }
  for (const FlitMode mode : {FlitMode::k68B, FlitMode::k256B}) {
    FlitLinkOf of{.mode = mode};
    of.errors.bit_error_rate = mode == FlitMode::k68B ? 1e-4 : 5e-4;
    const Saturated run(of, 30000);
    const double p = flit_error_probability(mode, of.errors.bit_error_rate);
    // A flit is sent until it is right: n p / (1 - p) errors, with five standard deviations.
    const auto flits = static_cast<double>(all_flits(run.totals()) - control_flits(run.totals()));
    const double expected = flits * p / (1 - p);
    EXPECT_GT(expected, 100.0);
    // A flit that fails twice counts twice.
    EXPECT_NEAR(static_cast<double>(run.totals().errors), expected, 5 * std::sqrt(flits * p) / (1 - p));
  }
}

TEST(FlitLinkIde, AMacTakesASlotInTwentyOrThirty) {
  for (const FlitMode mode : test::kFlitModes) {
    FlitLinkOf of{.mode = mode};
    of.mac_every = mode == FlitMode::k68B ? 5 : 2;
    const Saturated run(of, 30000);
    const double all = static_cast<double>(all_flits(run.totals()) * geometry(mode).slots);
    EXPECT_NEAR(static_cast<double>(slots(run.totals(), SlotKind::kMac)) / all,
                mode == FlitMode::k68B ? 1.0 / 20 : 1.0 / 30, 0.0005);
  }
}

TEST(FlitLinkIde, ContainmentWaitsForTheMacSkidDoesNot) {
  // An isolated read: the MAC of its aggregation follows in a flit of its own, in slot 0.
  for (const FlitMode mode : test::kFlitModes) {
    for (const bool containment : {true, false}) {
      FlitLinkOf of{.mode = mode, .delay = 20_ns};
      of.mac_every = 5;
      of.containment = containment;
      Kernel kernel;
      Probe a(kernel, "a");
      Probe b(kernel, "b");
      FlitLink link(kernel, a, b, of);
      Messages messages;
      Message& read = messages.tracked(Opcode::kMemRd);
      link.a_to_b.send(read, 0_ps);
      kernel.run(Time::max(), kAllEvents);
      const Time in = mode == FlitMode::k256BLo ? of.half() : of.flit();
      EXPECT_EQ(b.arrivals[0].time, in + (containment ? of.flit() : 0_ps) + 20_ns);
      EXPECT_EQ(Messages::segment(read, Segment::kSerialization), in + (containment ? of.flit() : 0_ps));
    }
  }
}

TEST(FlitLinkIde, TheTimeOfALineForRoutesIsWhatALoneOneTakes) {
  for (const FlitMode mode : test::kFlitModes) {
    for (const std::uint8_t mac_every : std::array<std::uint8_t, 3>{0, 2, 5}) {
      for (const bool containment : {true, false}) {
        if (containment && mac_every == 0) continue;
        for (const Opcode opcode : {Opcode::kMemWr, Opcode::kMemData}) {
          FlitLinkOf of{.mode = mode, .delay = 20_ns};
          of.mac_every = mac_every;
          of.containment = containment;
          Kernel kernel;
          Probe a(kernel, "a");
          Probe b(kernel, "b");
          FlitLink link(kernel, a, b, of);
          Messages messages;
          link.a_to_b.send(messages.tracked(opcode), 0_ps);
          kernel.run(Time::max(), kAllEvents);
          EXPECT_EQ(b.arrivals[0].time, link.a_to_b.line_time() + 20_ns)
              << kFlitModeNames.at(static_cast<std::size_t>(mode)) << ", a MAC every " << int{mac_every};
        }
      }
    }
  }
}

TEST(FlitLinkOutage, WhatWaitsGoesOnWhenTheLinkIsUpAgain) {
  FlitLinkOf of{.delay = 20_ns};
  of.outage = {.at = 1_us, .length = 500_ns};
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, of);
  Messages messages;
  Message& before = messages.tracked(Opcode::kMemRd, 1_us - 1_ps);
  Message& in_it = messages.tracked(Opcode::kMemRd, 1200_ns);
  link.a_to_b.send(before, 1_us - 1_ps);
  link.a_to_b.send(in_it, 1200_ns);
  link.b_to_a.send(messages.make(Opcode::kMemData), 1100_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals[0].time, 1_us - 1_ps + of.flit() + 20_ns);  // on the wire already
  EXPECT_EQ(b.arrivals[1].time, 1500_ns + of.flit() + 20_ns);
  EXPECT_EQ(Messages::segment(in_it, Segment::kLinkQueue), 300_ns);
  EXPECT_EQ(a.arrivals[0].time, 1500_ns + of.flit() + 20_ns);
}

TEST(FlitLinkOutage, ARetryWaitsForItsEnd) {
  // Each second flit is corrupted. The outage begins when the retry has not been asked for, when it has been,
  // and in 68B between the flits that announce it and the flit itself.
  struct FaultCase {
    FlitMode mode;
    Time begins;
    Time after;  // from the end of the outage to the start of the second transmission
  };
  constexpr Time kSent = 100_ns;
  for (const FaultCase& each : {FaultCase{FlitMode::k256B, 10_ns, 2560_ps + 20_ns},
                                {FlitMode::k256B, 30_ns, 0_ps},
                                {FlitMode::k68B, 10_ns, 680_ps * 12 + 20_ns},
                                {FlitMode::k68B, 30_ns, 680_ps * 6},
                                {FlitMode::k68B, 46_ns, 0_ps}}) {
    for (const bool fail : {false, true}) {
      SCOPED_TRACE(std::to_string(each.begins.ns()) + (fail ? " fail" : ""));
      FlitLinkOf of{.mode = each.mode, .delay = 20_ns};
      of.errors.every = 2;
      of.outage = {.at = kSent + each.begins, .length = 500_ns, .fail = fail};
      const Time up = *of.outage.at + of.outage.length;
      Kernel kernel;
      Probe a(kernel, "a");
      Probe b(kernel, "b");
      FlitLink link(kernel, a, b, of);
      Messages messages;
      EventSource source = kernel.new_source();
      std::vector<Message*> reads;
      for (const Time at : {0_ns, kSent, 300_ns}) reads.push_back(&messages.tracked(Opcode::kMemRd, at));
      test::Actor sender(
          [&](std::uint8_t, std::uint64_t which) { link.a_to_b.send(*reads[which], kernel.now()); });
      for (std::size_t i = 0; i < reads.size(); ++i) kernel.schedule(reads[i]->age, source, sender, 0, i);
      kernel.run(Time::max(), kAllEvents);
      EXPECT_EQ(b.arrivals.at(1).time, up + each.after + of.flit() + 20_ns);
      EXPECT_EQ(Messages::segment(*reads[1], Segment::kRetry), up + each.after - kSent);
      EXPECT_FALSE(reads[1]->failed);
      // What comes while the link is down follows, or fails at once, although the wire is taken.
      EXPECT_EQ(reads[2]->failed, fail);
      if (fail) {
        EXPECT_EQ(a.arrivals.at(0).time, 300_ns);
      } else {
        EXPECT_EQ(b.arrivals.at(2).time, up + each.after + of.flit() * 2 + 20_ns);
      }
    }
  }
}

TEST(FlitLinkOutage, RequestsFailIfAskedToAnswersWait) {
  FlitLinkOf of{.delay = 20_ns, .credits = ClassCredits(4)};
  of.outage = {.at = 1_us, .length = 500_ns, .fail = true};
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, of);
  Messages messages;
  EventSource source = kernel.new_source();
  Message& read = messages.tracked(Opcode::kMemRd, 1200_ns);
  Message& write = messages.tracked(Opcode::kMemWr, 1200_ns);
  Message& answer = messages.tracked(Opcode::kMemData, 1200_ns);
  test::Actor sender([&](std::uint8_t, std::uint64_t) {
    link.a_to_b.send(read, 1200_ns);
    link.a_to_b.send(write, 1200_ns);
    link.b_to_a.send(answer, 1200_ns);
  });
  kernel.schedule(1200_ns, source, sender, 0);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals.size(), 0U);
  ASSERT_EQ(a.arrivals.size(), 3U);
  EXPECT_EQ(a.arrivals[0].time, 1200_ns);
  EXPECT_EQ(a.arrivals[1].time, 1200_ns);
  EXPECT_TRUE(read.failed);
  EXPECT_TRUE(write.failed);
  EXPECT_EQ(read.opcode, Opcode::kMemDataNxm);
  EXPECT_EQ(write.opcode, Opcode::kCmp);
  EXPECT_FALSE(answer.failed);
  EXPECT_EQ(a.arrivals[2].time, 1500_ns + of.flit() + 20_ns);
}

TEST(FlitLinkOutage, WhatBecomesReadyInItFailsThen) {
  // Handed over with a time that lies ahead: the request fails when it is ready, not when the link is up.
  FlitLinkOf of{.delay = 20_ns};
  of.outage = {.at = 1_us, .length = 500_ns, .fail = true};
  for (const Time asked : {900_ns, 1100_ns}) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    FlitLink link(kernel, a, b, of);
    Messages messages;
    EventSource source = kernel.new_source();
    Message& read = messages.tracked(Opcode::kMemRd, 1200_ns);
    test::Actor sender([&](std::uint8_t, std::uint64_t) { link.a_to_b.send(read, 1200_ns); });
    kernel.schedule(asked, source, sender, 0);
    kernel.run(Time::max(), kAllEvents);
    ASSERT_EQ(a.arrivals.size(), 1U);
    EXPECT_EQ(a.arrivals[0].time, 1200_ns);
    EXPECT_TRUE(read.failed);
  }
}

TEST(FlitLinkDegraded, FlitsTakeLongerFromThenOn) {
  FlitLinkOf of{.delay = 20_ns};
  of.degraded_at = 10_us;
  of.degraded_rate = Rate::per_time(1, 40);  // a quarter of the lanes
  const Saturated run(of, 30000);            // 10000 flits
  const std::int64_t before = (10'000'000 + 2560 - 1) / 2560;
  EXPECT_EQ(run.b.arrivals.back().time, Time{before * 2560 + (10000 - before) * 4 * 2560} + 20_ns);
}

TEST(FlitRetries, EachRequestForARetryGoesWhenTheCorruptedFlitHasArrived) {
  // A flit that is corrupted twice is asked for twice: the second request is not there before the second
  // arrival.
  for (std::uint64_t seed = 1;; ++seed) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    FlitLinkOf of{.delay = 100_ns, .seed = seed};
    of.errors.bit_error_rate = 2e-3;
    FlitLink link(kernel, a, b, of);
    link.open(0_ps);
    Messages messages;
    link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
    std::vector<std::uint64_t> asked;  // flits, just after each arrival
    test::Actor look([&](std::uint8_t, std::uint64_t) {
      asked.push_back(link.b_to_a.flits()->totals().flits[static_cast<std::size_t>(FlitKind::kControl)]);
    });
    EventSource source = kernel.new_source();
    const Time loop = (of.flit() + of.flight()) * 2;  // there, and the request back
    for (std::int64_t i = 0; i < 2; ++i)
      kernel.schedule(loop * i + of.flit() + of.flight() + 1_ps, source, look, 0);
    kernel.run(Time::max(), kAllEvents);
    if (link.a_to_b.flits()->totals().errors != 2) continue;
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 2}));
    return;
  }
}

}  // namespace
}  // namespace cxloom

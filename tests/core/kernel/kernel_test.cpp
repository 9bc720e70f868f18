#include "kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/probe.hpp"

namespace cxloom {
namespace {

using namespace literals;
constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Logs its wake-ups as "kind:payload@ps", and the ends of instants as "end@ps".
class Log : public EventHandler {
 public:
  explicit Log(Kernel& kernel) : kernel_(kernel) {}
  void wake(std::uint8_t kind, std::uint64_t payload) override {
    lines.push_back(std::to_string(kind) + ":" + std::to_string(payload) + "@" +
                    std::to_string(kernel_.now().ps()));
  }
  void settle() override { lines.push_back("end@" + std::to_string(kernel_.now().ps())); }
  std::vector<std::string> lines;

 private:
  Kernel& kernel_;
};

using Lines = std::vector<std::string>;

TEST(Kernel, SimultaneousEventsComeBySourceThenSequence) {
  // Order (time, source, sequence): scheduled in any order, they come by the age of their source and then as
  // sent.
  Kernel kernel;
  Log log(kernel);
  EventSource first = kernel.new_source();
  EventSource second = kernel.new_source();
  EXPECT_LT(first.identity(), second.identity());
  kernel.schedule(10_ps, second, log, 2, 0);
  kernel.schedule(10_ps, first, log, 1, 0);
  kernel.schedule(10_ps, second, log, 2, 1);
  kernel.schedule(10_ps, first, log, 9, 1);  // a higher kind does not come later
  kernel.schedule(10_ps, first, log, 1, 2);
  kernel.schedule(9_ps, second, log, 2, 9);
  EXPECT_EQ(kernel.run(Time::max(), kAll), 6U);
  EXPECT_EQ(log.lines, (Lines{"2:9@9", "1:0@10", "9:1@10", "1:2@10", "2:0@10", "2:1@10"}));
  EXPECT_EQ(kernel.events(), 6U);
  EXPECT_EQ(kernel.now(), 10_ps);
}

TEST(Kernel, RefusesTheDayBeforeToday) {
  Kernel kernel;
  Log log(kernel);
  EventSource source = kernel.new_source();
  kernel.schedule(5_ns, source, log, 0);
  kernel.run(Time::max(), kAll);
  EXPECT_THROW(kernel.schedule(Time{4999}, source, log, 0), InternalError);
}

TEST(Kernel, TheEndOfAnInstantComesAfterAllItsEventsAndMayCauseMore) {
  // Two events at 10 ps; the first asks for the end. The end schedules an event at 10 ps, which asks for
  // another end.
  Kernel kernel;
  EventSource source = kernel.new_source();
  Log order(kernel);
  struct Settler final : EventHandler {
    Settler(Kernel& k, EventSource& s, Log& l) : kernel(k), source(s), log(l) {}
    void wake(std::uint8_t kind, std::uint64_t payload) override {
      log.wake(kind, payload);
      if (kind != 2) kernel.at_end_of_instant(*this);
    }
    void settle() override {
      log.settle();
      if (++ends == 1) kernel.schedule(kernel.now(), source, *this, 3);
    }
    Kernel& kernel;
    EventSource& source;
    Log& log;
    int ends = 0;
  } settler(kernel, source, order);
  kernel.schedule(10_ps, source, settler, 1);
  kernel.schedule(10_ps, source, settler, 2);
  kernel.schedule(11_ps, source, settler, 2);
  kernel.run(Time::max(), kAll);
  EXPECT_EQ(order.lines, (Lines{"1:0@10", "2:0@10", "end@10", "3:0@10", "end@10", "2:0@11"}));
  EXPECT_TRUE(kernel.idle());
}

TEST(Kernel, TheLastInstantEndsToo) {
  // Nothing is left in the queue, or what is left lies beyond the limit: the instant at hand still ends.
  for (const bool more : {false, true}) {
    Kernel kernel;
    EventSource source = kernel.new_source();
    Log log(kernel);
    test::Actor actor([&](std::uint8_t, std::uint64_t) { kernel.at_end_of_instant(log); });
    kernel.schedule(10_ps, source, actor, 0);
    if (more) kernel.schedule(1_us, source, log, 7);
    kernel.run(10_ps, kAll);
    EXPECT_EQ(log.lines, (Lines{"end@10"})) << more;
    EXPECT_EQ(kernel.idle(), !more);
    EXPECT_EQ(kernel.next_event_time(), more ? 1_us : Time::max());
  }
}

TEST(Kernel, BackgroundKeepsNothingAlive) {
  // A sampler every 10 ps beside work at 35 ps: it runs at 10, 20, 30 and then no more.
  Kernel kernel;
  EventSource source = kernel.new_source();
  Log log(kernel);
  test::Actor sampler([&](std::uint8_t kind, std::uint64_t payload) {
    log.wake(kind, payload);
    kernel.schedule_background(kernel.now() + 10_ps, source, sampler, 4, payload + 1);
  });
  kernel.schedule_background(10_ps, source, sampler, 4, 0);
  EXPECT_TRUE(kernel.idle());
  EXPECT_EQ(kernel.run(Time::max(), kAll), 0U);
  kernel.schedule(35_ps, source, log, 1);
  EXPECT_FALSE(kernel.idle());
  EXPECT_EQ(kernel.run(Time::max(), kAll), 4U);
  EXPECT_EQ(log.lines, (Lines{"4:0@10", "4:1@20", "4:2@30", "1:0@35"}));
  EXPECT_TRUE(kernel.idle());
  EXPECT_EQ(kernel.now(), 35_ps);
}

TEST(Kernel, LimitsOfTimeAndOfEvents) {
  Kernel kernel;
  EventSource source = kernel.new_source();
  Log log(kernel);
  for (std::uint64_t i = 1; i <= 5; ++i)
    kernel.schedule(Time{static_cast<std::int64_t>(i) * 10}, source, log, 0, i);
  EXPECT_EQ(kernel.run(20_ps, kAll), 2U);  // up to and including the limit
  EXPECT_EQ(kernel.now(), 20_ps);
  EXPECT_EQ(kernel.run(25_ps, kAll), 0U);
  EXPECT_EQ(kernel.now(), 25_ps);  // time goes on to the limit
  EXPECT_EQ(kernel.next_event_time(), 30_ps);
  EXPECT_EQ(kernel.run(Time::max(), 1), 1U);
  EXPECT_EQ(kernel.now(), 30_ps);
  EXPECT_EQ(kernel.run(Time::max(), kAll), 2U);
  EXPECT_EQ(log.lines.size(), 5U);
}

TEST(Kernel, AStopBeforeTheLimitLeavesTimeWhereItIs) {
  Kernel kernel;
  EventSource source = kernel.new_source();
  Log log(kernel);
  for (const Time at : {10_ps, 20_ps, 20_ps, 40_ps}) kernel.schedule(at, source, log, 0);
  EXPECT_EQ(kernel.run(100_ps, kAll, 30_ps), 3U);
  EXPECT_EQ(kernel.now(), 20_ps);
  EXPECT_EQ(kernel.run(100_ps, kAll, 30_ps), 0U);
  EXPECT_EQ(kernel.now(), 20_ps);
  EXPECT_EQ(kernel.run(35_ps, kAll, 30_ps), 0U);  // nothing is left before the limit
  EXPECT_EQ(kernel.now(), 35_ps);
  EXPECT_EQ(kernel.run(100_ps, kAll, 40_ps), 1U);  // up to and including it
  EXPECT_EQ(kernel.now(), 100_ps);                 // idle: nothing is left to stop before
}

TEST(Kernel, PauseEndsTheRunAfterTheEventAtHand) {
  Kernel kernel;
  EventSource source = kernel.new_source();
  Log log(kernel);
  test::Actor pauser([&](std::uint8_t, std::uint64_t) { kernel.pause(); });
  kernel.schedule(1_ps, source, pauser, 0);
  kernel.schedule(1_ps, source, log, 0);
  EXPECT_EQ(kernel.run(100_ps, kAll), 1U);
  EXPECT_EQ(kernel.now(), 1_ps);
  EXPECT_EQ(kernel.run(100_ps, kAll), 1U);
  EXPECT_EQ(log.lines.size(), 1U);
}

/// A little world that reschedules itself at random and asks for ends of instants; all it does is logged.
class World final : public EventHandler, public EventWatcher {
 public:
  explicit World(std::uint64_t seed, std::uint64_t counted_together = Kernel::kCountedTogether)
      : kernel(counted_together), random_(seed, "world", "test") {
    for (std::uint8_t i = 0; i < 8; ++i) kernel.schedule(Time{i}, sources_[i % 3], *this, i);
    kernel.watch(this);
  }
  void before(const Event& event) override {
    seen.emplace_back(event.time.ps(), EventSource::with_count(event.order, 0), event.payload);
  }
  void wake(std::uint8_t kind, std::uint64_t) override {
    if (seen.size() > 20'000) return;
    const std::uint64_t draw = random_.below(100);
    const auto delta =
        draw < 30 ? 0 : static_cast<std::int64_t>(random_.below(draw < 95 ? 3000 : 10'000'000));
    kernel.schedule(kernel.now() + Time{delta}, sources_[draw % 3], *this, kind, ++sent_);
    if (!asked_) asked_ = true, kernel.at_end_of_instant(*this);
  }
  void settle() override {
    asked_ = false;
    seen.emplace_back(kernel.now().ps(), 0, 0);
    if (random_.chance(0.05)) kernel.schedule(kernel.now(), sources_[0], *this, 99);
    if (random_.chance(0.05)) kernel.schedule_background(kernel.now() + 5_ps, sources_[1], *this, 50);
  }
  Kernel kernel;
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>>
      seen;  // time, order but for counts, payload

 private:
  RandomStream random_;
  EventSource sources_[3] = {kernel.new_source(), kernel.new_source(), kernel.new_source()};
  std::uint64_t sent_ = 0;
  bool asked_ = false;
};

TEST(Kernel, SlicesGiveTheSameAsOneRun) {
  World whole(7);
  whole.kernel.run(Time::max(), kAll);
  ASSERT_GT(whole.seen.size(), 20'000U);

  World by_time(7);
  for (Time limit = 500_ps; !by_time.kernel.idle(); limit += 777_ps) by_time.kernel.run(limit, kAll);
  EXPECT_EQ(by_time.seen, whole.seen);

  World by_events(7);
  std::uint64_t events = 0;
  while (!by_events.kernel.idle()) events += by_events.kernel.run(Time::max(), 1 + events % 5);
  EXPECT_EQ(by_events.seen, whole.seen);
  EXPECT_EQ(events, whole.kernel.events());

  World by_next(7);
  while (!by_next.kernel.idle()) by_next.kernel.run(by_next.kernel.next_event_time(), 3);
  EXPECT_EQ(by_next.seen, whole.seen);
}

TEST(Kernel, EventsAreCountedAnewBeforeACountRunsIntoTheIdentity) {
  // However often that is, the order of events stays as it was.
  World counted_once(11);
  counted_once.kernel.run(Time::max(), kAll);
  for (const std::uint64_t together : {1, 2, 7, 1000}) {
    World counted_anew(11, together);
    counted_anew.kernel.run(Time::max(), kAll);
    EXPECT_EQ(counted_anew.seen, counted_once.seen) << together;
  }
  // With what is pending, counts stay below the number of events between, the largest number of pending ones
  // included.
  Kernel kernel(100);
  Log log(kernel);
  EventSource source = kernel.new_source();
  EventSource other = kernel.new_source();
  struct Watch final : EventWatcher {
    void before(const Event& event) override {
      largest = std::max(largest, event.order & ((std::uint64_t{1} << EventSource::kIdentityShift) - 1));
    }
    std::uint64_t largest = 0;
  } watch;
  kernel.watch(&watch);
  for (std::int64_t i = 0; i < 1000; ++i) {
    kernel.schedule(Time{i}, source, log, 1);
    kernel.schedule(Time{i}, other, log, 2);
    kernel.run(Time{i}, kAll);
  }
  EXPECT_EQ(kernel.events(), 2000U);
  EXPECT_LT(watch.largest >> EventSource::kCountShift, 60U);
}

TEST(Kernel, EventsOfSideBySideAreCountedAnewInTheirOrder) {
  // Thirty events of two sources share each instant: that their counts begin anew, in the middle of an
  // instant too, and that a run ends there, changes nothing of their order.
  class SideBySide final : public EventHandler {
   public:
    explicit SideBySide(std::uint64_t together) : kernel(together) {}
    void wake(std::uint8_t kind, std::uint64_t payload) override {
      seen.emplace_back(kernel.now(), payload);
      EventSource& source = payload % 3 == 0 ? first : second;
      if (payload % 7 == 0 && kind == 1) kernel.schedule(kernel.now(), source, *this, 0, payload + 1000);
      if (kind == 1) kernel.schedule(kernel.now() + 3_ns, source, *this, 1, payload);
    }
    Kernel kernel;
    EventSource first = kernel.new_source();
    EventSource second = kernel.new_source();
    std::vector<std::pair<Time, std::uint64_t>> seen;
  };
  const auto seen_with = [](std::uint64_t together, std::uint64_t slice) {
    SideBySide all(together);
    for (std::uint64_t i = 0; i < 30; ++i) all.kernel.schedule(1_ns, all.second, all, 1, i);
    for (std::uint64_t ran = 0; ran < 5000; ran += slice) all.kernel.run(Time::max(), slice);
    all.seen.resize(5000);
    return all.seen;
  };
  const auto once = seen_with(Kernel::kCountedTogether, 5000);
  for (const std::uint64_t together : {7, 100, 1000}) EXPECT_EQ(seen_with(together, 5000), once) << together;
  EXPECT_EQ(seen_with(Kernel::kCountedTogether, 13), once);
  EXPECT_EQ(seen_with(77, 11), once);
}

/// Counts what it is told of beforehand, and asks for the end of the instant with every event.
class Foreseeing final : public EventHandler {
 public:
  explicit Foreseeing(Kernel& kernel) : kernel_(kernel) {}
  void foresee(std::uint8_t kind, std::uint64_t payload) const override {
    EXPECT_EQ(kind, 7);
    EXPECT_EQ(payload, 42U);
    EXPECT_FALSE(woken_);
    ++foreseen;
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override {
    woken_ = true;
    kernel_.at_end_of_instant(*this);
  }
  void foresee_settle(bool early) const override {
    EXPECT_TRUE(woken_ && !settled_);
    // The first few have only the second.
    EXPECT_LE(settles_foreseen, early ? 0 : 1);
    ++settles_foreseen;
  }
  void settle() override { settled_ = true; }

  mutable int foreseen = 0;
  mutable int settles_foreseen = 0;

 private:
  Kernel& kernel_;
  bool woken_ = false;
  bool settled_ = false;
};

TEST(Kernel, TellsHandlersOfACrowdedInstantWhatComes) {
  for (const int count : {1, 20, 200}) {
    Kernel kernel;
    EventSource source = kernel.new_source();
    std::deque<Foreseeing> handlers;
    for (int i = 0; i < count; ++i) {
      handlers.emplace_back(kernel);
      kernel.schedule(5_ns, source, handlers.back(), 7, 42);
    }
    kernel.run(Time::max(), kAll);
    int foreseen = 0;
    int settles = 0;
    for (const Foreseeing& each : handlers) {
      EXPECT_LE(each.foreseen, 1);
      foreseen += each.foreseen;
      settles += each.settles_foreseen == 2 ? 1 : 0;
    }
    EXPECT_EQ(foreseen > 180, count == 200);
    EXPECT_EQ(settles > 180, count == 200);
    if (count < 200) {
      EXPECT_EQ(foreseen + settles, 0);
    }
  }
}

TEST(Kernel, WhatTakesNoEventsSaysSo) {
  Kernel kernel;
  EventSource source = kernel.new_source();
  EventHandler nothing;
  Message message;
  kernel.deliver(1_ps, source, nothing, message);
  EXPECT_THROW(kernel.run(Time::max(), kAll), InternalError);
  kernel.schedule(2_ps, source, nothing, 0);
  EXPECT_THROW(kernel.run(Time::max(), kAll), InternalError);
  kernel.at_end_of_instant(nothing);
  EXPECT_THROW(kernel.run(Time::max(), kAll), InternalError);
}

}  // namespace
}  // namespace cxloom

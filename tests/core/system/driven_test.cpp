// A simulation driven from outside: accesses given while time goes on, answers by callback, bytes without
// time.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/support/system.hpp"
#include "results/collector.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {
namespace {

using test::map;

// A host and a memory that answers after 10 + 40 + 45 ns.
Value small_system(std::int64_t queue) {
  return map({{"devices", map({{"host", map({{"kind", "host"}, {"queue", queue}})},
                               {"mem", map({{"kind", "memory"}, {"capacity", "1GiB"}})}})},
              {"links", Value::List{map({{"between", Value::List{"host", "mem"}}})}},
              {"address_map", Value::List{map({{"to", Value::List{"mem"}}})}}});
}

class Driven : public ::testing::Test {
 protected:
  explicit Driven(std::int64_t queue = 2)
      : simulation_(registry_, Spec::read(small_system(queue), registry_), {}, collector_) {}

  Registry registry_ = builtin_registry();
  Collector collector_{true};
  Simulation simulation_;
};

// Beside a host whose memory no way leads to from another one.
TEST(DrivenBesideAnother, AnAccessToANeighboursOwnMemoryIsRefused) {
  const Value host = map({{"kind", "host"}});
  const Value memory = map({{"kind", "memory"}, {"capacity", "1MiB"}});
  const auto link = [](const char* a, const char* b) { return map({{"between", Value::List{a, b}}}); };
  const auto region = [](const char* to) { return map({{"to", Value::List{to}}}); };
  const Value system = map({{"devices", map({{"h0", host},
                                             {"h1", host},
                                             {"l0", memory},
                                             {"l1", memory},
                                             {"pool", memory},
                                             {"sw", map({{"kind", "switch"}})}})},
                            {"links", Value::List{link("h0", "l0"), link("h1", "l1"), link("h0", "sw"),
                                                  link("h1", "sw"), link("pool", "sw")}},
                            {"address_map", Value::List{region("l0"), region("l1"), region("pool")}}});
  const Registry registry = builtin_registry();
  Collector collector(true);
  Simulation simulation(registry, Spec::read(system, registry), {}, collector);
  simulation.drive("h1");
  int answered = 0;
  const auto count = [&](const Request& /*request*/, Time /*now*/) { ++answered; };
  simulation.inject("h1", {.address = Address{1U << 20U}}, count);
  simulation.inject("h1", {.address = Address{2U << 20U}}, count);
  EXPECT_THROW(simulation.inject("h1", {.address = Address{64}}, count), InputError);
  EXPECT_FALSE(simulation.run_until(Time{1'000'000}));
  EXPECT_EQ(answered, 2);
}

TEST_F(Driven, AnswersComeByCallbackAtTheirTime) {
  simulation_.drive("host");
  std::vector<std::int64_t> answered;
  const auto remember = [&](const Request& request, Time now) {
    EXPECT_EQ(request.account.mark(), now);
    answered.push_back(now.ps());
  };
  // Two go at once; the third waits for the first answer's slot, and so arrives one round trip later.
  for (int i = 0; i < 3; ++i)
    simulation_.inject("host", {.address = Address{std::uint64_t{64} * static_cast<unsigned>(i)}}, remember);
  EXPECT_FALSE(simulation_.run_until(Time{94'999}));
  EXPECT_TRUE(answered.empty());
  EXPECT_FALSE(simulation_.run_until(Time{95'000}));
  EXPECT_EQ(answered, (std::vector<std::int64_t>{95'000, 95'000}));
  EXPECT_FALSE(simulation_.run_until(Time{1'000'000}));
  EXPECT_EQ(answered.back(), 190'000);

  // Time has gone on to where the outside is, and an access starts there.
  simulation_.inject("host", {.address = Address{4096}}, remember);
  EXPECT_FALSE(simulation_.run_until(Time{2'000'000}));
  EXPECT_EQ(answered.back(), 1'095'000);
  EXPECT_EQ(simulation_.next_event_time(), Time::max());

  simulation_.close_feeds();
  EXPECT_TRUE(simulation_.advance(Time::max(), 1000));
  EXPECT_EQ(simulation_.state(), Simulation::State::kFinished);
  EXPECT_EQ(collector_.all().latency.count(), 4U);
}

TEST(DrivenInSlices, WhatGoesOnByItselfHappensInItsTime) {
  // A link that is down from 1 to 11 us, and a driver that comes at 30 us: nothing happens in between but
  // that.
  const Registry registry = builtin_registry();
  const auto answered_at = [&](Value link) {
    Value system = small_system(1);
    link.set("between", Value::List{"host", "mem"});
    link.set("phy", "pcie5-x16");
    system.set("links", Value::List{std::move(link)});
    Collector collector(false);
    Simulation simulation(registry, Spec::read(system, registry), {}, collector);
    simulation.drive("host");
    simulation.run_until(Time{30'000'000});
    EXPECT_EQ(simulation.now(), Time{30'000'000});
    Time answered;
    simulation.inject("host", {}, [&](const Request& /*request*/, Time now) { answered = now; });
    simulation.run_until(Time{60'000'000});
    return answered;
  };
  const Time usual = answered_at(map({}));
  EXPECT_GT(usual, Time{30'095'000});
  EXPECT_EQ(answered_at(map({{"outage", map({{"at", "1us"}, {"length", "10us"}})}})), usual);
  EXPECT_GT(answered_at(map({{"outage", map({{"at", "1us"}, {"length", "30us"}})}})), Time{31'000'000});
}

TEST_F(Driven, MistakesAreRefused) {
  EXPECT_THROW(simulation_.drive("mem"), InputError);
  EXPECT_THROW(simulation_.inject("host", {}, {}), InputError);
  simulation_.drive("host");
  EXPECT_THROW(simulation_.drive("host"), InputError);
  EXPECT_THROW(simulation_.inject("host", {.address = Address{std::uint64_t{1} << 40U}}, {}), InputError);
}

TEST_F(Driven, WhatIsOverTakesNoMore) {
  simulation_.drive("host");
  simulation_.inject("host", {}, {});
  simulation_.close_feeds();
  EXPECT_TRUE(simulation_.run_until(Time::max()));
  EXPECT_THROW(simulation_.inject("host", {}, {}), InputError);
  EXPECT_THROW(simulation_.drive("host"), InputError);
  EXPECT_THROW(simulation_.close_feeds(), InputError);
  EXPECT_TRUE(simulation_.run_until(Time::max())) << "it stays over";
  EXPECT_EQ(collector_.all().latency.count(), 1U);
}

TEST_F(Driven, AnAnswerMayInjectAndCannotAdvance) {
  simulation_.drive("host");
  int answers = 0;
  const auto count = [&](const Request& /*request*/, Time /*now*/) { ++answers; };
  simulation_.inject("host", {}, [&](const Request& request, Time now) {
    count(request, now);
    EXPECT_TRUE(simulation_.advancing());
    EXPECT_THROW(simulation_.advance(Time::max(), 1), InputError);
    EXPECT_THROW(simulation_.run_until(Time::max()), InputError);
    simulation_.inject("host", {.address = Address{64}}, count);
  });
  EXPECT_FALSE(simulation_.run_until(Time{1'000'000}));
  EXPECT_FALSE(simulation_.advancing());
  simulation_.close_feeds();
  EXPECT_TRUE(simulation_.run_until(Time::max()));
  EXPECT_EQ(answers, 2);
}

TEST_F(Driven, BytesAreReadAsWritten) {
  std::array<std::byte, 6000> out{};
  std::array<std::byte, 6000> in{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 7);
  simulation_.bytes().write(Address{4000}, in);  // across pages
  simulation_.bytes().read(Address{4000}, out);
  EXPECT_EQ(in, out);
  simulation_.bytes().read(Address{3000}, std::span(out).first(1100));
  EXPECT_EQ(out[999], std::byte{0});
  EXPECT_EQ(out[1001], std::byte{7});
}

}  // namespace
}  // namespace cxloom

#include "kernel/divided_kernels.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace cxloom {
namespace {

constexpr Time kFlight{1000};

/// Sends a ball to its partner, which is in another part, `kFlight` later, and does something at the end of
/// the instant.
class Player final : public EventHandler {
 public:
  using Log = std::vector<std::tuple<std::int64_t, char, std::uint64_t>>;

  Player(Kernel& kernel, char name) : kernel_(kernel), name_(name), source_(kernel.new_source()) {}
  void play_with(Player& partner) { partner_ = &partner; }
  void serve(Time at, std::uint64_t balls) { kernel_.schedule(at, source_, *this, 0, balls); }
  void throw_at(Time at) { throws_ = at; }

  void wake(std::uint8_t /*kind*/, std::uint64_t balls) override {
    if (kernel_.now() == throws_) throw std::runtime_error(std::string("out: ") + name_);
    log.emplace_back(kernel_.now().ps(), name_, balls);
    kernel_.at_end_of_instant(*this);
    if (balls == 0) return;
    kernel_.schedule(kernel_.now() + Time{7}, source_, *this, 0, 0);
    const Time there = kernel_.now() + kFlight;
    if (&kernel_ == &partner_->kernel_) kernel_.schedule(there, source_, *partner_, 0, balls - 1);
    else kernel_.send(partner_->kernel_, there, source_, *partner_, 0, balls - 1);
  }
  void settle() override { log.emplace_back(kernel_.now().ps(), name_, ~std::uint64_t{0}); }

  Log log;

 private:
  Kernel& kernel_;
  char name_;
  EventSource source_;
  Player* partner_ = nullptr;
  Time throws_{-1};
};

struct Match {
  explicit Match(std::size_t threads)
      : kernels(2, threads, kFlight), a(kernels.part(0), 'a'), b(kernels.part(1), 'b') {
    a.play_with(b);
    b.play_with(a);
  }
  DividedKernels kernels;
  Player a;
  Player b;
};

Player::Log whole(std::uint64_t balls) {
  Kernel kernel;
  Player a(kernel, 'a');
  Player b(kernel, 'b');
  a.play_with(b);
  b.play_with(a);
  a.serve(Time{10}, balls);
  b.serve(Time{10}, balls);
  kernel.run(Time::max(), ~std::uint64_t{0});
  Player::Log log = a.log;
  log.insert(log.end(), b.log.begin(), b.log.end());
  return log;
}

TEST(DividedKernels, PartsDoTheSameSideBySideMergedAndInOneQueue) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    for (const bool merged : {false, true}) {
      Match match(threads);
      match.a.serve(Time{10}, 50);
      match.b.serve(Time{10}, 50);
      while (!match.kernels.idle()) {
        const Time end = match.kernels.next_event_time() + kFlight;
        if (merged) EXPECT_TRUE(match.kernels.run_merged(end, ~std::uint64_t{0}));
        else match.kernels.run_side_by_side(end);
      }
      Player::Log log = match.a.log;
      log.insert(log.end(), match.b.log.begin(), match.b.log.end());
      EXPECT_EQ(log, whole(50)) << threads << merged;
      EXPECT_EQ(match.kernels.events(), match.kernels.events_of(0) + match.kernels.events_of(1));
    }
  }
}

TEST(DividedKernels, AMergedWindowCanBeBrokenOffAndGoneOnWith) {
  Match match(1);
  match.a.serve(Time{10}, 30);
  match.b.serve(Time{10}, 30);
  while (!match.kernels.idle()) {
    const Time end = match.kernels.next_event_time() + kFlight;
    match.kernels.run_merged(end, 1);
  }
  Player::Log log = match.a.log;
  log.insert(log.end(), match.b.log.begin(), match.b.log.end());
  EXPECT_EQ(log, whole(30));
}

TEST(DividedKernels, OfSeveralErrorsTheEarliestIsThrown) {
  for (const std::size_t threads : {1U, 2U}) {
    Match match(threads);
    match.a.serve(Time{500}, 0);
    match.b.serve(Time{400}, 0);
    match.a.throw_at(Time{500});
    match.b.throw_at(Time{400});
    try {
      match.kernels.run_side_by_side(Time{1000});
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "out: b");
    }
    EXPECT_EQ(match.kernels.now(), Time{400});
    EXPECT_NE(match.kernels.failed(), nullptr);
  }
}

TEST(DividedKernels, TheThreadThatIsDoneFirstCallsWhatIsToBeDoneMeanwhileOnce) {
  for (const std::size_t threads : {1U, 2U}) {
    Match match(threads);
    match.a.serve(Time{10}, 20);
    match.b.serve(Time{10}, 20);
    int windows = 0;
    int calls = 0;
    while (!match.kernels.idle()) {
      match.kernels.run_side_by_side(match.kernels.next_event_time() + kFlight, [&] { ++calls; });
      EXPECT_EQ(calls, ++windows);
    }
    EXPECT_GE(windows, 20);
    const auto fail = [] { throw std::runtime_error("meanwhile"); };
    EXPECT_THROW(match.kernels.run_side_by_side(match.kernels.now() + kFlight, fail), std::runtime_error);
  }
}

TEST(DividedKernels, WhatIsSentBetweenWindowsIsKnownAtOnce) {
  Match match(1);
  match.a.serve(Time{10}, 0);
  match.kernels.run_side_by_side(Time{100});
  EXPECT_TRUE(match.kernels.idle());
  std::vector<Time> taken;
  match.kernels.part(0).send(match.kernels.part(1), Time{700}, &taken,
                             [](void* to, Time at) { static_cast<std::vector<Time>*>(to)->push_back(at); });
  EXPECT_EQ(match.kernels.next_event_time(), Time{700});
  match.kernels.run_side_by_side(Time{800});
  EXPECT_EQ(taken, std::vector<Time>{Time{700}});
}

TEST(DividedKernels, SourcesThatAreCountedAnewKeepTheOrderOfWhatIsOnItsWay) {
  DividedKernels kernels(2, 1, kFlight, 1);  // after each event
  Player sender(kernels.part(0), 'a');
  Player taker(kernels.part(1), 'b');
  sender.play_with(taker);
  taker.play_with(sender);
  EventSource source = kernels.part(0).new_source();
  for (const Time early : {Time{1}, Time{2}}) kernels.part(0).schedule(early, source, sender, 0, 0);
  kernels.run_side_by_side(Time{100});
  for (const std::uint64_t ball : {7U, 8U}) {
    kernels.part(0).send(kernels.part(1), Time{1050}, source, taker, 0, ball);
    kernels.run_side_by_side(ball == 7 ? Time{200} : Time{1051});
  }
  ASSERT_GE(taker.log.size(), 2U);
  EXPECT_EQ(std::get<2>(taker.log[0]), 7U);
  EXPECT_EQ(std::get<2>(taker.log[1]), 8U);
}

TEST(DividedKernels, TheControlActsInMergedWindowsAlone) {
  Match match(2);
  Player control(match.kernels.control(), 'c');
  control.serve(Time{50}, 0);
  EXPECT_THROW(match.kernels.run_side_by_side(Time{51}), InternalError);
  EXPECT_TRUE(match.kernels.run_merged(Time{51}, ~std::uint64_t{0}));
  EXPECT_EQ(control.log.size(), 2U);
}

TEST(DividedKernels, NeedPartsAndALookahead) {
  EXPECT_THROW(DividedKernels(0, 1, kFlight), InternalError);
  EXPECT_THROW(DividedKernels(2, 1, Time{}), InternalError);
}

/// Something of the whole system at a known time: it asks handlers of all parts for the end of the instant,
/// as what fails does.
class Referee final : public EventHandler {
 public:
  using Asked = std::vector<std::pair<Kernel*, EventHandler*>>;

  Referee(Kernel& kernel, Time at, Asked asked) : source_(kernel.new_source()), asked_(std::move(asked)) {
    kernel.schedule(at, source_, *this, 0, 0);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override {
    for (const auto& [kernel, handler] : asked_) kernel->at_end_of_instant(*handler);
  }

 private:
  EventSource source_;
  Asked asked_;
};

class NamedSettler final : public EventHandler {
 public:
  NamedSettler(std::string& log, char name) : log_(log), name_(name) {}
  void settle() override { log_ += name_; }

 private:
  std::string& log_;
  char name_;
};

TEST(DividedKernels, TheEndOfAnInstantComesToAllWhoAskedInTheirOrder) {
  for (const bool divided : {false, true}) {
    std::string log;
    NamedSettler a(log, 'a');
    NamedSettler b(log, 'b');
    NamedSettler c(log, 'c');
    DividedKernels kernels(2, 2, kFlight);
    Kernel whole;
    Kernel& one = divided ? kernels.part(0) : whole;
    Kernel& two = divided ? kernels.part(1) : whole;
    const Referee referee(divided ? kernels.control() : whole, Time{10},
                          {{&two, &b}, {&one, &a}, {&two, &c}});
    if (divided) kernels.run_merged(Time{1000}, ~std::uint64_t{0});
    else whole.run(Time{1000}, ~std::uint64_t{0});
    EXPECT_EQ(log, "bac") << divided;
  }
}

/// Notes where it is called, and then calls another one of its part in the same instant: itself, or its end
/// first.
class Caller final : public EventHandler {
 public:
  explicit Caller(Kernel& kernel) : kernel_(kernel), source_(kernel.new_source()) {}
  void calls(Caller& other, bool at_end) {
    other_ = &other;
    at_end_ = at_end;
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override {
    places.push_back(kernel_.place());
    if (at_end_) kernel_.at_end_of_instant(*this);
    else call();
  }
  void settle() override { call(); }
  void schedule(Time at) { kernel_.schedule(at, source_, *this, 0); }

  std::vector<EventPlace> places;

 private:
  void call() {
    if (Caller* const other = std::exchange(other_, nullptr)) other->schedule(kernel_.now());
  }

  Kernel& kernel_;
  EventSource source_;
  Caller* other_ = nullptr;
  bool at_end_ = false;
};

// In one queue the events of the instant would be: the middle one, the last one, and the first one, which the
// last one calls. The first one's own order is the lowest.
TEST(DividedKernels, WhatAnEventCallsInItsInstantHasThePlaceBehindIt) {
  for (const bool at_end : {false, true}) {
    DividedKernels kernels(2, 1, kFlight);
    Caller first(kernels.part(0));
    Caller middle(kernels.part(1));
    Caller last(kernels.part(0));
    last.calls(first, at_end);
    last.schedule(Time{10});
    middle.schedule(Time{10});
    kernels.run_side_by_side(Time{500});
    ASSERT_EQ(first.places.size(), 1U);
    EXPECT_TRUE(middle.places[0].before(last.places[0]));
    EXPECT_TRUE(middle.places[0].before(first.places[0]));
    EXPECT_FALSE(first.places[0].before(last.places[0]));
  }
}

// What follows the end of the instant comes behind all before it, though the order of the first is the
// lowest.
TEST(DividedKernels, WhatFollowsTheEndOfAnInstantComesBehindAllBeforeIt) {
  DividedKernels kernels(2, 1, kFlight);
  Caller first(kernels.part(0));
  Caller later(kernels.part(1));
  first.calls(first, true);
  first.schedule(Time{10});
  later.schedule(Time{10});
  later.schedule(Time{11});
  kernels.run_side_by_side(Time{500});
  ASSERT_EQ(first.places.size(), 2U);
  EXPECT_TRUE(first.places[0].before(later.places[0]));
  EXPECT_TRUE(later.places[0].before(first.places[1]));
  EXPECT_TRUE(first.places[1].before(later.places[1]));
}

}  // namespace
}  // namespace cxloom

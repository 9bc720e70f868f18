// Each parameter that a coherency agent of a device and a home agent of a host have in common changes what it
// says, in the direction that it says.
#include <gtest/gtest.h>

#include <string>

#include "core/support/home_knobs.hpp"

namespace cxloom::test {
namespace {

class HomeKnob : public testing::TestWithParam<HomeIs> {
 protected:
  static SharedLines run(const HomeKnobs& knobs) { return {GetParam(), knobs}; }
};

TEST_P(HomeKnob, LookupTimeIsPaidByEveryRequest) {
  const SharedLines fast = run({.home = {{"lookup_time", "1ns"}}});
  const SharedLines slow = run({.home = {{"lookup_time", "100ns"}}});
  EXPECT_GT(slow.segment("filter"), fast.segment("filter") + 50);
  EXPECT_GT(slow.latency(), fast.latency());
}

TEST_P(HomeKnob, LookupIntervalBoundsTheRate) {
  const SharedLines free = run({});
  const SharedLines bound = run({.home = {{"lookup_interval", "100ns"}}});
  EXPECT_GT(bound.segment("filter"), free.segment("filter"));
  // A hundred nanoseconds for each message that looks the filter up.
  const double lookups = bound.of_home("filter_hits") + bound.of_home("filter_misses");
  EXPECT_GE(bound.time(), 100.0 * (lookups - 64));
  EXPECT_LT(free.time(), bound.time());
}

TEST_P(HomeKnob, MoreTransactionsAreNoSlower) {
  double before = 1e30;
  for (const int transactions : {1, 2, 4, 8, 32}) {
    const SharedLines some = run({.home = {{"transactions", transactions}}});
    EXPECT_LT(some.time(), before * 1.01) << transactions;
    before = some.time();
  }
  const SharedLines one = run({.home = {{"transactions", 1}}});
  const SharedLines all = run({});
  EXPECT_GT(one.segment("home_queue"), all.segment("home_queue"));
}

TEST_P(HomeKnob, MoreEntriesEvictLessAndAreFaster) {
  double time = 1e30;
  double evictions = 1e30;
  for (const int entries : {1, 4, 16, 32, 64}) {
    const SharedLines some = run({.filter = {{"entries", entries}}});
    EXPECT_LT(some.time(), time) << entries;
    time = some.time();
    // With fewer than the requests under way, requests to one line wait for each other and share an entry.
    if (entries > 16) {
      EXPECT_LT(some.of_home("filter_evictions"), evictions) << entries;
    }
    evictions = some.of_home("filter_evictions");
    EXPECT_EQ(evictions > 0, entries < 64) << entries;  // 64 lines
  }
}

TEST_P(HomeKnob, WritesPastTheCacheFetchNothing) {
  const SharedLines past = run({.cache = {{"write_allocate", false}}, .reads = "0%"});
  EXPECT_EQ(past.of_home("lines_invalidated"), 0);
  EXPECT_EQ(past.of_home("filter_entries"), 0);
  EXPECT_EQ(past.of_sharer("write_backs"), 0);
}

TEST_P(HomeKnob, NoticesKeepTheFilterAsSmallAsTheCaches) {
  const SharedLines silent = run({.cache = {{"size", "512B"}}});
  const SharedLines notified = run({.cache = {{"size", "512B"}, {"clean_evictions", "notified"}}});
  EXPECT_EQ(silent.of_sharer("clean_evictions"), 0);
  EXPECT_GT(notified.of_sharer("clean_evictions"), 0);
  EXPECT_LT(notified.of_home("filter_entries"), silent.of_home("filter_entries"));
  EXPECT_LT(notified.of_home("lines_invalidated"), silent.of_home("lines_invalidated"));
}

INSTANTIATE_TEST_SUITE_P(Homes, HomeKnob, testing::Values(HomeIs::kDcoh, HomeIs::kAgent),
                         [](const auto& home) {
                           return std::string(home.param == HomeIs::kDcoh ? "Dcoh" : "HomeAgent");
                         });

}  // namespace
}  // namespace cxloom::test

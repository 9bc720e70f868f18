#include "interconnect/flit/credits.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cxloom {
namespace {

using Taken = std::map<Channel, unsigned>;

Taken take(CreditReturns& returns, Time now) {
  Taken taken;
  returns.take(now, [&](Channel channel, unsigned count) { taken[channel] += count; });
  return taken;
}

TEST(CreditReturns, TakesWhatTheFieldCanSayAndWhatIsFreeByThen) {
  CreditReturns returns(FlitMode::k68B);
  for (int i = 0; i < 5; ++i) returns.add(Channel::kM2SReq, Time{100});
  returns.add(Channel::kM2SReq, Time{200});
  EXPECT_FALSE(returns.due(Time{99}));
  EXPECT_EQ(take(returns, Time{99}), Taken{});
  EXPECT_TRUE(returns.due(Time{100}));
  EXPECT_EQ(take(returns, Time{100}), (Taken{{Channel::kM2SReq, 4}}));  // five are free; the field says 4
  EXPECT_EQ(take(returns, Time{100}), (Taken{{Channel::kM2SReq, 1}}));
  EXPECT_EQ(take(returns, Time{200}), (Taken{{Channel::kM2SReq, 1}}));
  EXPECT_FALSE(returns.due(Time{1000}));
}

TEST(CreditReturns, TakesOneClassOfEachGroupInTurns) {
  CreditReturns returns(FlitMode::k256B);
  for (int i = 0; i < 2; ++i) {
    returns.add(Channel::kM2SReq, Time{});  // two classes of requests
    returns.add(Channel::kD2HReq, Time{});
    returns.add(Channel::kM2SRwD, Time{});  // one of data
  }
  Taken sum;
  int flits = 0;
  for (; returns.due(Time{}); ++flits) {
    const Taken taken = take(returns, Time{});
    EXPECT_LE(taken.count(Channel::kM2SReq) + taken.count(Channel::kD2HReq), 1U);
    for (const auto& [channel, count] : taken) sum[channel] += count;
  }
  EXPECT_EQ(sum, (Taken{{Channel::kM2SReq, 2}, {Channel::kD2HReq, 2}, {Channel::kM2SRwD, 2}}));
  EXPECT_EQ(flits, 4);  // 256B fields say 1 or 4: four credits of requests, one per flit
}

TEST(CreditReturns, GivesAllWithTheirTimes) {
  CreditReturns returns(FlitMode::k256B);
  returns.add(Channel::kM2SReq, Time{20});
  returns.add(Channel::kM2SReq, Time{10});
  std::vector<Time> times;
  returns.take_all([&](Channel /*channel*/, Time at) { times.push_back(at); });
  EXPECT_EQ(times, (std::vector<Time>{Time{10}, Time{20}}));
  EXPECT_FALSE(returns.due(Time{1000}));
}

}  // namespace
}  // namespace cxloom

#include "protocol/account.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "protocol/request.hpp"

namespace cxloom {
namespace {

// Charges random segments, the common ones alone or all, and returns what each has.
std::array<std::int64_t, kSegmentCount> charge_some(Account& account, RandomStream& random, bool rare) {
  std::array<std::int64_t, kSegmentCount> expected{};
  for (int i = 0; i < 40; ++i) {
    const Segment segment = rare ? static_cast<Segment>(random.below(kSegmentCount))
                                 : kCommonSegments[random.below(kCommonSegments.size())];
    const auto length = static_cast<std::int64_t>(random.below(3) * random.below(1000));
    account.charge(segment, account.mark() + Time{length});
    expected[static_cast<std::size_t>(segment)] += length;
  }
  return expected;
}

TEST(AccountTest, HasEachSegmentAtAPlaceOfItsOwn) {
  RandomStream random(1, "account", "test");
  for (int round = 0; round < 200; ++round) {
    Account account;
    account.open(Time{7});
    const auto expected = charge_some(account, random, round % 2 == 0);
    std::int64_t sum = 0;
    std::int64_t common = 0;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      const auto segment = static_cast<Segment>(i);
      EXPECT_EQ(account.of(segment).ps(), expected[i]) << kSegments[i].name;
      EXPECT_EQ(account.segments()[i].ps(), expected[i]) << kSegments[i].name;
      const std::size_t order = Account::order_of(segment);
      EXPECT_EQ(order < Account::kCommon ? account.common()[order] : account.rare()[order - Account::kCommon],
                Time{expected[i]});
      sum += expected[i];
      if (order < Account::kCommon) common += expected[i];
    }
    EXPECT_EQ(account.mark(), Time{7 + sum});
    EXPECT_EQ(account.common_sum(), Time{common});
  }
}

TEST(AccountTest, TakesOverTheTimeOfAChild) {
  RandomStream random(2, "account", "test");
  for (int round = 0; round < 200; ++round) {
    Account parent;
    auto expected = charge_some(parent, random, round % 3 != 0);
    Account child;
    child.open(parent.mark());
    const auto more = charge_some(child, random, round % 2 != 0);
    parent.join(child);
    EXPECT_EQ(parent.mark(), child.mark());
    for (std::size_t i = 0; i < kSegmentCount; ++i)
      EXPECT_EQ(parent.segments()[i].ps(), expected[i] + more[i]) << kSegments[i].name;
  }
  Account parent;
  Account child;
  child.open(Time{1});
  EXPECT_THROW(parent.join(child), InternalError);
}

TEST(RequestTest, IsAsNewWhenItIsRenewed) {
  RandomStream random(3, "account", "test");
  Request request;
  for (int round = 0; round < 200; ++round) {
    request.begin(NodeId{5}, Time{static_cast<std::int64_t>(random.below(1000))});
    charge_some(request.account, random, round % 2 == 0);
    request.message.address = request.address = Address{64};
    request.message.size = request.size = 64;
    request.message.hops = 3;
    request.message.persistent = request.message.failed = request.failed = true;
    request.id = 9;
    request.target = NodeId{4};
    request.index = 17;
    request.lines = round % 3 == 0 ? Request::kPart : std::uint16_t{2};
    request.kind = AccessKind::kFlush;
    request.keeps = request.brings = true;
    request.set_thread(round % 2 == 0 ? 6 : 0);
    request.renew();
    EXPECT_EQ(request.index, 17U);  // its pool's
    const Request fresh;
    EXPECT_EQ(request.account.segments(), fresh.account.segments());
    EXPECT_EQ(request.account.mark(), fresh.account.mark());
    EXPECT_EQ(request.created(), fresh.created());
    EXPECT_EQ(request.requester(), fresh.requester());
    EXPECT_EQ(request.message.address, fresh.message.address);
    EXPECT_EQ(request.message.size, fresh.message.size);
    EXPECT_EQ(request.message.hops, fresh.message.hops);
    EXPECT_EQ(request.message.persistent, fresh.message.persistent);
    EXPECT_EQ(request.message.failed, fresh.message.failed);
    EXPECT_EQ(request.id, fresh.id);
    EXPECT_EQ(request.address, fresh.address);
    EXPECT_EQ(request.target, fresh.target);
    EXPECT_EQ(request.thread(), fresh.thread());
    EXPECT_EQ(request.moved(), fresh.moved());
    EXPECT_EQ(request.lines, fresh.lines);
    EXPECT_EQ(request.size, fresh.size);
    EXPECT_EQ(request.kind, fresh.kind);
    EXPECT_EQ(request.failed, fresh.failed);
    EXPECT_EQ(request.keeps, fresh.keeps);
    EXPECT_EQ(request.brings, fresh.brings);
  }
}

TEST(RequestTest, CountsTheBytesOfALineOnce) {
  Request request;
  request.message.size = 64;
  for (const auto& [lines, moved] :
       {std::pair<std::uint16_t, std::uint16_t>{0, 0}, {1, 64}, {2, 0}, {Request::kPart, 64}}) {
    request.lines = lines;
    EXPECT_EQ(request.moved(), moved) << lines;
  }
}

}  // namespace
}  // namespace cxloom

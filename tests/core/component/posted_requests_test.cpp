#include "component/posted_requests.hpp"

#include <gtest/gtest.h>

#include "kernel/kernel.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {
namespace {

// A plug-in may send a posted write of its own pool, with the tag of its place there.
TEST(PostedRequests, ThoseOfAnotherPoolAreNone) {
  Kernel kernel;
  PostedRequests posted;
  Request& own = posted.take(kernel);
  own.message.account = &own.account;
  Pool<Request> pool;
  Request& other = pool.take();
  other.message.account = &other.account;
  other.message.tag = other.index;
  ASSERT_EQ(own.message.tag, other.message.tag);
  EXPECT_EQ(posted.of(own.message), &own);
  EXPECT_EQ(posted.of(other.message), nullptr);
}

TEST(PostedRequests, EachPartHasItsOwnAndKnowsThoseOfOthers) {
  Kernel first;
  Kernel second;
  PostedRequests posted;
  posted.divide({&first, &second});
  Request& one = posted.take(first);
  Request& two = posted.take(second);
  EXPECT_NE(one.message.tag, two.message.tag);
  for (Request* const each : {&one, &two}) {
    each->message.account = &each->account;
    EXPECT_EQ(posted.of(each->message), each);
  }
  posted.go_side_by_side(true);
  EXPECT_EQ(posted.of(two.message), &two);
  posted.give_back(first, two);
  posted.go_side_by_side(false);
  EXPECT_EQ(posted.live(), 2U);
  posted.gather();
  EXPECT_EQ(posted.live(), 1U);
}

}  // namespace
}  // namespace cxloom

#include "workload/stream/threads.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace cxloom {
namespace {

/// Accesses whose addresses say whose they are: 100 x thread + number.
class Counted final : public AccessStream {
 public:
  Counted(std::uint64_t thread, std::uint32_t dependence) : next_(100 * thread), dependence_(dependence) {}
  bool next(Access& access) override {
    access = {};
    access.address = Address{next_++};
    access.dependence = dependence_;
    return true;
  }

 private:
  std::uint64_t next_;
  std::uint32_t dependence_;
};

ThreadedStream three(std::uint32_t dependence = 0) {
  std::vector<std::unique_ptr<AccessStream>> streams;
  for (std::uint64_t thread = 0; thread < 3; ++thread)
    streams.push_back(std::make_unique<Counted>(thread, dependence));
  return ThreadedStream(std::move(streams));
}

Access next_of(ThreadedStream& stream) {
  Access access;
  EXPECT_TRUE(stream.next(access));
  return access;
}

TEST(ThreadedStream, ThreadsTakeTurns) {
  ThreadedStream stream = three();
  for (std::uint64_t i = 0; i < 9; ++i) {
    const Access access = next_of(stream);
    EXPECT_EQ(access.thread, i % 3);
    EXPECT_EQ(access.address.value(), 100 * (i % 3) + i / 3);
  }
}

TEST(ThreadedStream, TheOneThatIsWantedComesFirst) {
  ThreadedStream stream = three();
  stream.want(2);
  EXPECT_EQ(next_of(stream).thread, 2U);
  EXPECT_EQ(next_of(stream).thread, 0U);
  EXPECT_EQ(next_of(stream).thread, 1U);
  const Access again = next_of(stream);
  EXPECT_EQ(again.thread, 2U);
  EXPECT_EQ(again.address.value(), 201U);  // it missed nothing and repeats nothing
}

TEST(ThreadedStream, ADependenceIsOnTheAccessOfItsOwnThread) {
  ThreadedStream stream = three(2);
  std::vector<Access> all;
  for (int i = 0; i < 3; ++i) all.push_back(next_of(stream));
  stream.want(1);
  for (int i = 0; i < 6; ++i) all.push_back(next_of(stream));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t number = all[i].address.value() % 100;
    if (number < 2) {
      EXPECT_EQ(all[i].dependence, 0U);  // on nothing: the thread has not made so many
      continue;
    }
    const Access& needed = all[i - all[i].dependence];
    EXPECT_EQ(needed.thread, all[i].thread);
    EXPECT_EQ(needed.address.value() % 100, number - 2);
  }
}

TEST(ThreadedStream, AFenceStaysOne) {
  ThreadedStream stream = three(kAllBefore);
  EXPECT_EQ(next_of(stream).dependence, kAllBefore);
}

}  // namespace
}  // namespace cxloom

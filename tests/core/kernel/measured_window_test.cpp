#include "kernel/measured_window.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace cxloom {
namespace {

using namespace literals;

TEST(MeasuredWindow, IsOpenFromItsOpeningToItsClose) {
  MeasuredWindow window;
  EXPECT_FALSE(window.has_opened());
  EXPECT_FALSE(window.is_open());
  window.open(2_us);
  EXPECT_TRUE(window.has_opened());
  EXPECT_TRUE(window.is_open());
  window.close(6_us);
  EXPECT_TRUE(window.has_opened());
  EXPECT_FALSE(window.is_open());
  EXPECT_EQ(window.opened(), 2_us);
  EXPECT_EQ(window.closed(), 6_us);
}

TEST(MeasuredWindow, RatesAndSharesAreOfItsLength) {
  MeasuredWindow window;
  window.open(2_us);
  window.close(6_us);
  EXPECT_EQ(window.length(), 4_us);
  EXPECT_DOUBLE_EQ(window.per_ns(64'000), 16.0);
  EXPECT_DOUBLE_EQ(window.share(1_us), 0.25);
}

TEST(MeasuredWindow, NothingHappensInOneOfNoLength) {
  MeasuredWindow window;
  EXPECT_EQ(window.length(), Time{});
  EXPECT_EQ(window.per_ns(64), 0.0);
  window.open(2_us);
  window.close(2_us);
  EXPECT_EQ(window.per_ns(64), 0.0);
  EXPECT_EQ(window.share(1_us), 0.0);
}

TEST(MeasuredParts, AreOpenedAndClosedTogetherInTheirOrder) {
  struct Part {
    std::vector<std::string>& log;
    std::string name;
    void open(Time at) const { log.push_back(name + " opens at " + to_text(at)); }
    void close(Time at) const { log.push_back(name + " closes at " + to_text(at)); }
  };
  std::vector<std::string> log;
  Part first{log, "first"};
  Part second{log, "second"};
  MeasuredWindow window;
  MeasuredParts parts;
  parts.add(first, window);
  parts.add(second);
  parts.open(2_us);
  EXPECT_TRUE(window.is_open());
  parts.close(6_us);
  EXPECT_EQ(window.length(), 4_us);
  EXPECT_EQ(log, (std::vector<std::string>{"first opens at 2us", "second opens at 2us", "first closes at 6us",
                                           "second closes at 6us"}));
}

// It would count nothing, and zeros look like a result.
TEST(MeasuredParts, TakeNoneOnceTheyAreOpen) {
  MeasuredWindow early;
  MeasuredWindow late;
  MeasuredParts parts;
  parts.add(early);
  parts.open(2_us);
  EXPECT_THROW(parts.add(late), InternalError);
  parts.close(6_us);
  EXPECT_THROW(parts.add(late), InternalError);
  EXPECT_FALSE(late.has_opened());
  EXPECT_EQ(early.length(), 4_us);
}

TEST(MeasuredParts, OpenEachOnce) {
  MeasuredWindow window;
  MeasuredWindow other;
  MeasuredParts parts;
  parts.add(window, other);
  parts.add(window);
  EXPECT_THROW(parts.open(2_us), InternalError);
  EXPECT_FALSE(window.has_opened());
}

}  // namespace
}  // namespace cxloom

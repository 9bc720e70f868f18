#include "kernel/wait_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/errors.hpp"
#include "core/support/probe.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::contains;
using test::Probe;

struct Waits final : Waiter {
  explicit Waits(const Component& whose) : component(whose) {}
  const EventHandler& owner() const override { return component; }

  const Component& component;
};

std::vector<const Waiter*> members(const WaitList& list) {
  std::vector<const Waiter*> all;
  for (const Waiter* waiter = list.first(); waiter; waiter = waiter->next()) all.push_back(waiter);
  return all;
}

TEST(WaitList, JoinsAtTheEndAndLeavesFromAnywhere) {
  // Against a std::vector, under random joins and leaves.
  Kernel kernel;
  Probe holder(kernel, "holder");
  WaitList list(kernel, "a thing", holder);
  std::deque<Waits> pool;
  for (int i = 0; i < 20; ++i) pool.emplace_back(holder);
  std::vector<const Waiter*> reference;
  RandomStream random(1, "wait_list", "test");
  for (int step = 0; step < 5000; ++step) {
    Waits& waiter = pool[random.below(pool.size())];
    const bool waits = std::find(reference.begin(), reference.end(), &waiter) != reference.end();
    if (waits && random.below(2) == 0) {
      list.join_again(waiter, Time{step});
      std::erase(reference, &waiter);
      reference.push_back(&waiter);
      EXPECT_EQ(waiter.since(), Time{step});
    } else if (waits) {
      list.leave(waiter);
      std::erase(reference, &waiter);
    } else {
      list.join(waiter, Time{step});
      reference.push_back(&waiter);
      EXPECT_EQ(waiter.since(), Time{step});
    }
    ASSERT_EQ(members(list), reference);
    ASSERT_EQ(list.empty(), reference.empty());
  }
}

TEST(DescribeWaits, NamesWaiterResourceHolderAndTime) {
  Kernel kernel;
  Probe host(kernel, "host");
  Probe memory(kernel, "mem");
  WaitList slots(kernel, "a queue slot", memory);
  WaitList idle(kernel, "an idle thing", host);
  EXPECT_EQ(describe_waits(kernel), "");
  Waits one(host);
  Waits two(host);
  slots.join(one, 5_ns);
  slots.join(two, 7_ns);
  EXPECT_EQ(describe_waits(kernel), "  host waits for a queue slot held by mem since 5ns (2 waiting)\n");
}

/// Components a, b, c, ... and who waits for whom; the text of the diagnosis.
std::string diagnosis(const std::vector<std::string>& arrows) {
  Kernel kernel;
  std::deque<Probe> nodes;
  for (char name = 'a'; name <= 'f'; ++name) nodes.emplace_back(kernel, std::string(1, name));
  std::deque<WaitList> lists;
  std::deque<Waits> waits;
  for (const std::string& arrow : arrows) {  // "ab": a waits for what b holds
    lists.emplace_back(kernel, "it", nodes[static_cast<std::size_t>(arrow[1] - 'a')]);
    lists.back().join(waits.emplace_back(nodes[static_cast<std::size_t>(arrow[0] - 'a')]), 1_ns);
  }
  return describe_waits(kernel);
}

TEST(DescribeWaits, FindsTheCircle) {
  EXPECT_TRUE(contains(diagnosis({"ab", "bc", "ca"}), "circle: a -> b -> c -> a\n"));
  EXPECT_TRUE(contains(diagnosis({"ab", "bc", "cb"}), "circle: b -> c -> b\n"));  // a only leads there
  EXPECT_FALSE(contains(diagnosis({"ab", "bc", "cd"}), "circle"));
  EXPECT_FALSE(contains(diagnosis({"aa", "ab"}), "circle"));  // waiting for one's own slots is no circle
}

TEST(DescribeWaits, FindsTheCircleOfOneWhoWaitsForTwoThings) {
  // The first thing that b waits for leads nowhere; the second closes the circle.
  EXPECT_TRUE(contains(diagnosis({"ab", "bd", "bc", "ca"}), "circle: a -> b -> c -> a\n"));
  EXPECT_TRUE(contains(diagnosis({"ad", "de", "ab", "bc", "bf", "ca"}), "circle: a -> b -> c -> a\n"));
  EXPECT_FALSE(contains(diagnosis({"ab", "ac", "bd", "cd"}), "circle"));  // two ways to d, no circle
}

TEST(DescribeWaits, ALongListIsCutAndSaysSo) {
  std::vector<std::string> arrows(60, "ab");
  const std::string text = diagnosis(arrows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 41);
  EXPECT_TRUE(contains(text, "... and 20 more\n"));
}

}  // namespace
}  // namespace cxloom

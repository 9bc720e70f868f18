#include "component/delivery_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <deque>
#include <map>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

Message message(std::uint32_t from, std::uint32_t to, std::uint64_t line,
                Channel channel = Channel::kM2SReq) {
  Message made;
  made.source = NodeId{from};
  made.destination = NodeId{to};
  made.address = Address{line * 64};
  made.channel = channel;
  return made;
}

TEST(DeliveryOrder, WhatComesInOrderIsTakenAtOnce) {
  DeliveryOrder order;
  for (int i = 0; i < 3; ++i) {
    Message one = message(1, 2, 7);
    order.number(one);
    const std::uint64_t stream = DeliveryOrder::stream_of(one);
    EXPECT_TRUE(order.in_turn(one, stream));
    EXPECT_EQ(order.next(stream), nullptr);
  }
}

// A long run touches any number of lines: what has been taken is forgotten, be it in order or not.
TEST(DeliveryOrder, KnowsNothingButWhatIsUnderWay) {
  DeliveryOrder order;
  for (std::uint64_t line = 0; line < 100'000; line += 2) {
    Message first = message(1, 2, line);
    Message second = message(1, 2, line);
    Message alone = message(2, 1, line);
    for (Message* const each : {&first, &second, &alone}) order.number(*each);
    EXPECT_LE(order.streams(), 2U);
    const std::uint64_t stream = DeliveryOrder::stream_of(first);
    EXPECT_FALSE(order.in_turn(second, stream));
    EXPECT_TRUE(order.in_turn(first, stream));
    EXPECT_EQ(order.next(stream), &second);
    EXPECT_TRUE(order.in_turn(alone, DeliveryOrder::stream_of(alone)));
    EXPECT_EQ(order.streams(), 0U);
  }
}

TEST(DeliveryOrder, WhatComesTooEarlyWaitsForThoseBefore) {
  DeliveryOrder order;
  std::vector<Message> sent(3, message(1, 2, 7));
  for (Message& each : sent) order.number(each);
  const std::uint64_t stream = DeliveryOrder::stream_of(sent[0]);
  EXPECT_FALSE(order.in_turn(sent[2], stream));
  EXPECT_FALSE(order.in_turn(sent[1], stream));
  EXPECT_EQ(order.held(), 2U);
  EXPECT_TRUE(order.in_turn(sent[0], stream));
  EXPECT_EQ(order.next(stream), &sent[1]);
  EXPECT_EQ(order.next(stream), &sent[2]);
  EXPECT_EQ(order.next(stream), nullptr);
  EXPECT_EQ(order.held(), 0U);
}

TEST(DeliveryOrder, OtherLinesClassesAndPeersAreStreamsOfTheirOwn) {
  const Message one = message(1, 2, 7);
  for (const Message& other : {message(1, 2, 8), message(3, 2, 7), message(1, 3, 7), message(2, 1, 7),
                               message(1, 2, 7, Channel::kM2SRwD)}) {
    EXPECT_NE(DeliveryOrder::stream_of(other), DeliveryOrder::stream_of(one));
  }
  Message part = one;
  part.address = Address{7 * 64 + 63};
  EXPECT_EQ(DeliveryOrder::stream_of(part), DeliveryOrder::stream_of(one));
}

TEST(DeliveryOrder, CxlIoHasOnePathAndNoNumbers) {
  EXPECT_FALSE(DeliveryOrder::covers(Channel::kIo));
  EXPECT_TRUE(DeliveryOrder::covers(Channel::kM2SReq));
}

// Messages of few lines between few devices arrive in any order: each stream is taken in the order in which
// it was sent, and all are taken.
TEST(DeliveryOrder, RandomArrivalsAreTakenInTheOrderOfEachStream) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "order", "test");
    DeliveryOrder order;
    std::vector<Message> sent;
    sent.reserve(60);  // a message stays where it is
    for (int i = 0; i < 60; ++i) {
      const auto from = static_cast<std::uint32_t>(random.below(3));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(2)) % 3);
      sent.push_back(
          message(from, to, random.below(3), random.chance(0.5) ? Channel::kM2SReq : Channel::kS2MNDR));
      sent.back().tag = static_cast<std::uint32_t>(i);
      order.number(sent.back());
    }
    std::vector<std::size_t> arrivals(sent.size());
    for (std::size_t i = 0; i < arrivals.size(); ++i) arrivals[i] = i;
    for (std::size_t i = arrivals.size(); i > 1; --i) std::swap(arrivals[i - 1], arrivals[random.below(i)]);
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>> taken;
    std::size_t count = 0;
    const auto take = [&](const Message& each, std::uint64_t stream) {
      taken[{each.destination.index(), stream}].push_back(each.tag);
      ++count;
    };
    for (const std::size_t i : arrivals) {
      const std::uint64_t stream = DeliveryOrder::stream_of(sent[i]);
      if (!order.in_turn(sent[i], stream)) continue;
      take(sent[i], stream);
      while (const Message* const next = order.next(stream)) take(*next, stream);
    }
    EXPECT_EQ(count, sent.size());
    EXPECT_EQ(order.streams(), 0U);
    EXPECT_EQ(order.held(), 0U);
    for (const auto& [stream, tags] : taken) EXPECT_TRUE(std::is_sorted(tags.begin(), tags.end())) << seed;
  }
}

TEST(DeliveryOrder, NothingWaitsForWhatIsForgotten) {
  DeliveryOrder order;
  std::vector<Message> sent(5, message(1, 2, 7));
  for (Message& each : sent) order.number(each);
  const std::uint64_t stream = DeliveryOrder::stream_of(sent[0]);
  EXPECT_EQ(DeliveryOrder::destination_of(stream), NodeId{2});
  EXPECT_FALSE(order.in_turn(sent[3], stream));
  EXPECT_FALSE(order.forget(sent[1])) << "the first one is still to come";
  EXPECT_FALSE(order.forget(sent[2]));
  EXPECT_EQ(order.next(stream), nullptr);
  EXPECT_TRUE(order.forget(sent[0])) << "with it the next two are passed over";
  EXPECT_EQ(order.next(stream), &sent[3]);
  EXPECT_EQ(order.next(stream), nullptr);
  EXPECT_FALSE(order.forget(sent[4])) << "nothing is kept behind it";
  EXPECT_EQ(order.streams(), 0U);
  EXPECT_EQ(order.held(), 0U);
  order.number(sent[0]);
  EXPECT_TRUE(order.in_turn(sent[0], stream)) << "the stream begins anew";
}

// A draw by the number is then that of any run, however far the receiver is.
TEST(DeliveryOrder, TheNumberDoesNotDependOnWhatIsUnderWay) {
  DeliveryOrder order;
  std::vector<Message> sent(3, message(1, 2, 7));
  for (Message& each : sent) order.number(each);
  const std::uint64_t stream = DeliveryOrder::stream_of(sent[0]);
  EXPECT_FALSE(order.in_turn(sent[1], stream));
  EXPECT_TRUE(order.in_turn(sent[0], stream));
  Message later = message(1, 2, 7);
  order.number(later);
  Message other = message(1, 2, 8);
  order.number(other);
  for (const Message& each : sent) EXPECT_EQ(each.order, later.order);
  EXPECT_NE(other.order, later.order);
}

// A sender and a receiver in two threads, a window apart as parts of a divided system are: what was sent in
// one window comes in the next, shuffled. Each stream is taken in its order, whatever the threads do
// meanwhile.
TEST(DeliveryOrder, EndsInTwoThreadsAgree) {
  constexpr std::size_t kWindows = 200;
  constexpr std::size_t kEach = 100;
  DeliveryOrder order(true);
  std::vector<std::vector<Message>> sent(kWindows);
  std::barrier window_ends(2);
  std::thread sender([&] {
    RandomStream random(1, "order", "sender");
    std::uint32_t number = 0;
    for (std::vector<Message>& window : sent) {
      for (std::size_t i = 0; i < kEach; ++i) {
        window.push_back(message(1, 2, random.below(20)));
        window.back().tag = number++;
      }
      for (Message& each : window) order.number(each);
      window_ends.arrive_and_wait();
    }
  });
  RandomStream random(1, "order", "receiver");
  std::map<std::uint64_t, std::vector<std::uint32_t>> taken;
  std::size_t count = 0;
  for (std::vector<Message>& window : sent) {
    window_ends.arrive_and_wait();
    std::vector<Message*> coming;
    for (Message& each : window) coming.push_back(&each);
    for (std::size_t i = kEach; i > 1; --i) std::swap(coming[i - 1], coming[random.below(i)]);
    for (Message* const each : coming) {
      const std::uint64_t stream = DeliveryOrder::stream_of(*each);
      const Message* next = order.in_turn(*each, stream) ? each : nullptr;
      for (; next; next = order.next(stream), ++count) taken[stream].push_back(next->tag);
    }
  }
  sender.join();
  EXPECT_EQ(count, kWindows * kEach);
  EXPECT_EQ(order.streams(), 0U);
  EXPECT_EQ(order.held(), 0U);
  for (const auto& [stream, tags] : taken) EXPECT_TRUE(std::is_sorted(tags.begin(), tags.end()));
}

// Thousands of streams at once: more than the table begins with, so that they share cells, which it moves and
// clears. Each line has up to three messages under way, of which those that come too early are kept.
TEST(DeliveryOrder, ManyStreamsShareCellsAndStayApart) {
  RandomStream random(1, "order", "cells");
  DeliveryOrder order;
  std::deque<Message> sent;
  std::map<std::uint64_t, std::deque<const Message*>> expected;  // by stream, in the order sent
  std::vector<Message*> under_way;
  std::size_t most = 0;
  const auto take = [&](const Message& each, std::uint64_t stream) {
    ASSERT_EQ(&each, expected[stream].front());
    expected[stream].pop_front();
    if (expected[stream].empty()) expected.erase(stream);
  };
  const auto arrive = [&] {
    std::swap(under_way[random.below(under_way.size())], under_way.back());
    Message& came = *under_way.back();
    under_way.pop_back();
    const std::uint64_t stream = DeliveryOrder::stream_of(came);
    if (random.chance(0.05)) {  // it is lost instead
      std::erase(expected[stream], &came);
      if (expected[stream].empty()) expected.erase(stream);
      if (!order.forget(came)) return;
    } else {
      if (!order.in_turn(came, stream)) return;
      take(came, stream);
    }
    while (const Message* const next = order.next(stream)) take(*next, stream);
  };
  for (int i = 0; i < 60'000; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(16));
    sent.push_back(message(from, 16 + from, random.below(2000)));
    const std::uint64_t stream = DeliveryOrder::stream_of(sent.back());
    order.number(sent.back());
    expected[stream].push_back(&sent.back());
    under_way.push_back(&sent.back());
    most = std::max(most, order.streams());
    ASSERT_EQ(order.streams(), expected.size());
    if (under_way.size() > 6000 || random.chance(0.4)) arrive();
  }
  EXPECT_GT(most, 4000U);
  while (!under_way.empty()) arrive();
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(order.streams(), 0U);
  EXPECT_EQ(order.held(), 0U);
}

}  // namespace
}  // namespace cxloom

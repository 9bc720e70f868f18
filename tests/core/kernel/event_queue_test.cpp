#include "kernel/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};
using Reference = std::priority_queue<Event, std::vector<Event>, Later>;

/// The queue under test beside std::priority_queue; every event has an order of its own, so there is one
/// right answer.
class Pair {
 public:
  void push(std::int64_t ps, std::uint64_t tie) {
    const Event event{Time{ps}, (tie << 32U) | ++pushed_, nullptr, pushed_};
    queue_.push(event);
    reference_.push(event);
  }
  /// Removes the earliest of both; false if they differ.
  bool pop() {
    if (!peek()) return false;
    now_ = queue_.top().time.ps();
    queue_.pop();
    reference_.pop();
    return queue_.size() == reference_.size();
  }
  bool peek() {
    const Event& got = queue_.top();
    const Event& wanted = reference_.top();
    return got.time == wanted.time && got.order == wanted.order && got.payload == wanted.payload;
  }
  bool empty() const { return reference_.empty(); }
  std::size_t size() const { return reference_.size(); }
  std::int64_t now() const { return now_; }
  const EventQueue& queue() const { return queue_; }

 private:
  EventQueue queue_;
  Reference reference_;
  std::uint64_t pushed_ = 0;
  std::int64_t now_ = 0;
};

using Delta = std::function<std::int64_t(RandomStream&)>;

// Hold model: the number of pending events wanders between 0 and `most` while time goes on.
void compare_on(const Delta& delta, std::size_t most, int steps, std::uint64_t seed) {
  RandomStream random(seed, "event_queue", "load");
  Pair pair;
  for (int i = 0; i < steps; ++i) {
    const bool push = pair.empty() || (pair.size() < most && random.chance(0.5));
    if (push) {
      pair.push(pair.now() + delta(random), random.below(4));
    } else {
      ASSERT_TRUE(pair.pop()) << "step " << i;
    }
    // Looking ahead opens a later bucket; what is pushed before it afterwards must still come first.
    if (!pair.empty() && random.chance(0.1)) {
      ASSERT_TRUE(pair.peek()) << "step " << i;
    }
  }
  while (!pair.empty()) ASSERT_TRUE(pair.pop());
  EXPECT_TRUE(pair.queue().empty());
}

TEST(EventQueue, NearEventsComeInOrder) {
  compare_on([](RandomStream& random) { return static_cast<std::int64_t>(random.below(3000)); }, 1000,
             200'000, 1);
}

TEST(EventQueue, ManyEventsInOneBucketAndAtOneInstant) {
  compare_on([](RandomStream& random) { return static_cast<std::int64_t>(random.below(3)); }, 5000, 200'000,
             2);
  compare_on([](RandomStream&) { return std::int64_t{0}; }, 300, 20'000, 3);
}

TEST(EventQueue, CrowdedInstantsOneBehindTheOther) {
  // Some hundred events each nanosecond, and such as come to an instant that is being worked off or is the
  // next one.
  compare_on([](RandomStream& random) { return static_cast<std::int64_t>(random.below(20)) * 1000; }, 5000,
             200'000, 4);
}

TEST(EventQueue, ShowsEventsOfACrowdedInstantBeforeTheirTurn) {
  // Each that is shown comes later, once. Where few share an instant, none is shown.
  for (const std::uint64_t count : {1U, 39U, 100U}) {
    EventQueue queue;
    for (std::uint64_t i = 0; i < count; ++i)
      queue.push({Time{10}, i << EventSource::kIdentityShift, nullptr, i});
    std::vector<std::uint64_t> shown;
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(queue.top().payload, i);
      if (const Event* const soon = queue.pop()) {
        EXPECT_GT(soon->payload, i + 1);
        shown.push_back(soon->payload);
      }
    }
    EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
    EXPECT_EQ(std::adjacent_find(shown.begin(), shown.end()), shown.end());
    EXPECT_EQ(shown.size(), count == 100 ? 91U : 0U);
  }
}

TEST(EventQueue, EventsOfAnInstantComeByTheirSourcesAndThenAsSent) {
  // From 1 to 300 events at one time, from far more or far fewer sources than that, pushed in any order.
  RandomStream random(7, "event_queue", "instants");
  for (std::uint64_t count = 1; count <= 300; count += 1 + count / 50) {
    for (const std::uint64_t sources : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{1} << 24U}) {
      std::vector<std::uint64_t> senders;
      for (std::uint64_t i = 0; i < count; ++i) {
        senders.push_back(random.below(sources) << EventSource::kIdentityShift);
      }
      std::vector<std::uint64_t> orders;
      EventQueue queue;
      for (std::uint64_t i = 0; i < count; ++i) {
        orders.push_back(
            EventSource::with_count(senders[random.below(count)] | i, static_cast<std::uint32_t>(i)));
      }
      std::sort(orders.begin(), orders.end());
      std::vector<std::uint64_t> shuffled = orders;
      for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.below(i)]);
      for (const std::uint64_t order : shuffled) queue.push({Time{777}, order, nullptr, 0});
      for (const std::uint64_t order : orders) {
        ASSERT_EQ(queue.top().order, order) << count << " events of " << sources << " sources";
        queue.pop();
      }
    }
  }
}

TEST(EventQueue, TrainsComeInTheOrderOfTheirSources) {
  // Requests that go side by side: each event causes one or two of its own source, or of another, a few fixed
  // times later, so that dozens share an instant, and now and then one for now, or for a time of its own. In
  // turns all are of one source, so that trains are looked for, of several, and so far apart that trains are
  // forgotten.
  RandomStream random(3, "event_queue", "trains");
  EventQueue queue;
  Reference reference;
  std::array<std::uint64_t, 4> counts{};
  const auto push = [&](Time time, std::uint64_t source) {
    const Event event{time, source << EventSource::kIdentityShift | ++counts[source] << 8U, nullptr,
                      counts[source]};
    queue.push_next(event.time, event.order, event.handler, event.payload);
    reference.push(event);
  };
  for (std::uint64_t i = 0; i < 64; ++i) push(Time{500}, i % 2);
  std::uint64_t with_trains = 0;
  std::uint64_t forgotten = 0;
  for (int i = 0; i < 300'000; ++i) {
    const Event next = queue.top();
    ASSERT_TRUE(next.time == reference.top().time && next.order == reference.top().order) << i;
    ASSERT_EQ(next.payload, reference.top().payload);
    queue.pop();
    reference.pop();
    forgotten += with_trains > 0 && !queue.looks_for_trains() ? 1 : 0;
    with_trains += queue.looks_for_trains() ? 1 : 0;
    const bool together = i % 40'000 < 1'000;
    const bool alone = i % 40'000 > 30'000;
    const std::uint64_t own_source =
        random.chance(0.95) ? EventSource::identity_in(next.order) % 4 : random.below(4);
    const std::uint64_t source = together ? 3 : own_source;
    const auto own = static_cast<std::int64_t>(random.below(3000) + 1);
    const std::int64_t to_others = 1000 - (together ? next.time.ps() % 1000 : 0);
    push(next.time + Time{alone || random.chance(0.002) ? own : to_others}, source);
    if (queue.size() < 80 && random.chance(0.3)) push(next.time + Time{250}, source);
    if (queue.size() < 80 && random.chance(0.02)) push(next.time, random.below(4));
    if (queue.size() < 80 && random.chance(0.05)) {  // of a source that never counts, of either kind
      const std::uint64_t kind = random.below(2);
      const Event event{next.time + Time{1000}, std::uint64_t{4} << EventSource::kIdentityShift | kind,
                        nullptr, kind};
      queue.push(event);
      reference.push(event);
    }
    if (queue.size() > 70) {
      queue.pop();
      reference.pop();
    }
  }
  EXPECT_GT(with_trains, 100'000U);
  EXPECT_GT(forgotten, 10'000U);
  ASSERT_EQ(queue.size(), reference.size());
  std::vector<Event*> pending;
  queue.list_pending(pending);
  EXPECT_EQ(pending.size(), reference.size());
  for (; !reference.empty(); reference.pop(), queue.pop())
    ASSERT_EQ(queue.top().order, reference.top().order);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, EventsAroundTheHorizon) {
  // Events on both sides of a power of two of ps, whatever the phase of the wheels: 2^21 is the end of the
  // fine one, 2^33 that of the coarse one.
  for (const unsigned power : {19U, 20U, 21U, 22U, 23U, 32U, 33U, 34U}) {
    compare_on(
        [power](RandomStream& random) {
          return (std::int64_t{1} << power) - 4096 + static_cast<std::int64_t>(random.below(8192));
        },
        200, 50'000, 4);
  }
}

TEST(EventQueue, EventsOfAllDistancesMixed) {
  compare_on(
      [](RandomStream& random) {
        const auto magnitude = random.below(36);  // up to 69 ms, far beyond the wheel
        return static_cast<std::int64_t>(random.below(std::uint64_t{1} << magnitude));
      },
      2000, 300'000, 5);
}

// Two events, of which the later one is pushed first. The queue is empty before and afterwards.
bool come_in_turn(EventQueue& queue, Time first, Time second) {
  queue.push({second, 2, nullptr, 2});
  queue.push({first, 1, nullptr, 1});
  const bool first_came = queue.top().payload == 1;
  queue.pop();
  const bool second_came = queue.top().payload == 2 && queue.top().time == second;
  queue.pop();
  return first_came && second_came;
}

TEST(EventQueue, EveryBucketOfTheCoarseWheelIsFoundFromEveryPhase) {
  // Two events at a time, the second one up to beyond the coarse wheel's 4096 buckets of 2.1 us.
  constexpr std::int64_t kBucket = std::int64_t{1} << 21U;
  EventQueue queue;
  std::int64_t now = 0;
  for (std::int64_t distance = 1; distance <= 9000; ++distance) {
    const Time first{now + kBucket + distance % 5 * kBucket};
    const Time second{first.ps() + distance * kBucket / 2};
    ASSERT_TRUE(come_in_turn(queue, first, second)) << distance;
    now = second.ps();
  }
}

TEST(EventQueue, FarEventsOfOneBucketComeInOrder) {
  // Hundreds in each bucket of 2.1 us, pushed while they are near, far, and beyond the coarse wheel.
  compare_on(
      [](RandomStream& random) {
        const std::int64_t turn = std::int64_t{1} << 21U;
        const std::int64_t away = std::array<std::int64_t, 5>{0, 1, 2, 4095, 4097}[random.below(5)];
        return away * turn + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(turn)));
      },
      2000, 200'000, 8);
}

TEST(EventQueue, FewEventsFarApartForALongTime) {
  // Hours of simulated time: the wheel turns many times, mostly empty, and bucket numbers pass 2^32.
  compare_on(
      [](RandomStream& random) { return static_cast<std::int64_t>(random.below(std::uint64_t{1} << 44U)); },
      4, 20'000, 6);
}

TEST(EventQueue, APushIntoTheOpenBucketOvertakesWhatWasSortedThere) {
  Pair pair;
  pair.push(100, 0);
  pair.push(900, 0);
  ASSERT_TRUE(pair.pop());  // the bucket is open now, at 100 ps
  pair.push(500, 0);
  pair.push(900, 0);  // the same time as one that was sorted, a later order
  pair.push(100, 0);  // at this very instant
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pair.pop());
  EXPECT_TRUE(pair.empty());
}

TEST(EventQueue, APushBeforeABucketOpenedByLookingAheadComesFirst) {
  EventQueue queue;
  queue.push({Time{5'000'000'000}, 1, nullptr, 1});
  EXPECT_EQ(queue.top().payload, 1U);  // opens a bucket 5 ms ahead
  queue.push({Time{10}, 2, nullptr, 2});
  queue.push({Time{4'999'000'000}, 3, nullptr, 3});
  queue.push({Time{5'000'000'001}, 4, nullptr, 4});
  queue.push({Time{5'004'300'000}, 5, nullptr, 5});
  for (const std::uint64_t wanted : {2U, 3U, 1U, 4U, 5U}) {
    EXPECT_EQ(queue.top().payload, wanted);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, APushBeforeTheNextEventComesFirstHoweverNearThatIs) {
  // An event happens while the next one is pending, from the same bucket to far beyond the next 64, and
  // causes others: at its own time, between, and at the time of the next one before and behind it.
  std::int64_t now = 0;
  for (std::int64_t distance = 2; distance <= 20'000; distance += 1 + distance / 50) {
    EventQueue queue;
    queue.push({Time{now}, 10, nullptr, 1});
    queue.push({Time{now + distance}, 20, nullptr, 5});
    EXPECT_EQ(queue.top().payload, 1U);
    queue.pop();
    queue.push({Time{now + distance}, 21, nullptr, 6});
    queue.push({Time{now + distance}, 19, nullptr, 4});
    queue.push({Time{now + distance / 2}, 11, nullptr, 3});
    queue.push({Time{now}, 12, nullptr, 2});
    for (std::uint64_t wanted = 2; wanted <= 6; ++wanted) {
      ASSERT_EQ(queue.top().payload, wanted) << distance;
      queue.pop();
    }
    EXPECT_TRUE(queue.empty());
    now += 777;
  }
}

TEST(EventQueue, EverySlotOfTheWheelIsFoundFromEveryPhase) {
  // Two events at a time, at every distance up to beyond the horizon: the search for the next filled bucket.
  EventQueue queue;
  std::int64_t now = 0;
  for (std::int64_t distance = 0; distance <= 20'000; ++distance) {
    const Time first{now + distance * 128};
    const Time second{first.ps() + (distance % 7) * 300'000};
    ASSERT_TRUE(come_in_turn(queue, first, second)) << distance;
    now = second.ps();
  }
}

}  // namespace
}  // namespace cxloom

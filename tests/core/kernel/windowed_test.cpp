// Counters and the measured window: what came before it and after it is not of it.
#include "kernel/windowed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include "kernel/kernel.hpp"

namespace cxloom {
namespace {

struct Counts {
  std::uint64_t messages = 0;
  Time waited;
  bool operator==(const Counts&) const = default;
};
struct Uneven {
  std::uint64_t messages = 0;
  std::uint32_t errors = 0;  // and padding
};
struct Inexact {
  double sum = 0;
};
static_assert(CounterStruct<Counts>);
static_assert(!CounterStruct<Uneven>);
static_assert(!CounterStruct<Inexact>);
static_assert(!std::is_default_constructible_v<Windowed<Counts>>, "nobody would open it");
static_assert(!std::is_move_constructible_v<Windowed<Counts>>, "it would be opened at its old place");

void count(Windowed<Counts>& counts, Time waited) {
  ++counts->messages;
  counts->waited += waited;
}

TEST(Windowed, HasWhatWasCountedInTheWindow) {
  Windowed<Counts> counts{OpenedByOwner{}};
  count(counts, Time{5});
  EXPECT_EQ(counts.window(), (Counts{}));
  counts.open(Time{100});
  EXPECT_EQ(counts.window(), (Counts{}));
  count(counts, Time{7});
  EXPECT_EQ(counts.window(), (Counts{1, Time{7}}));
  count(counts, Time{-2});
  counts.close(Time{1100});
  count(counts, Time{11});
  EXPECT_EQ(counts.window(), (Counts{2, Time{5}}));
  EXPECT_EQ(counts->messages, 4U);
  EXPECT_EQ(counts.measured().per_ns(3.0), 3.0);
}

TEST(Windowed, IsOpenedByItsKernel) {
  Kernel kernel;
  Windowed<Counts> counts(kernel);
  count(counts, Time{5});
  kernel.open_window(Time{100});
  count(counts, Time{7});
  kernel.close_window(Time{200});
  EXPECT_EQ(counts.window(), (Counts{1, Time{7}}));
}

TEST(Windowed, IsOfTheLatestWindow) {
  Windowed<Counts> counts{OpenedByOwner{}};
  for (int window = 1; window <= 3; ++window) {
    counts.open(Time{window * 100});
    for (int i = 0; i < window; ++i) count(counts, Time{1});
    counts.close(Time{window * 100 + 50});
    counts.close(Time{window * 100 + 60});  // it is closed
    count(counts, Time{1000});
    EXPECT_EQ(counts.window(), (Counts{static_cast<std::uint64_t>(window), Time{window}}));
  }
}

TEST(Windowed, CountsAddUpOneByOne) {
  const Counts sum = sum_of(Counts{~std::uint64_t{0}, Time{-3}}, Counts{1, Time{1}});
  EXPECT_EQ(sum, (Counts{0, Time{-2}}));  // nothing is carried from one to the next
  EXPECT_EQ(difference_of(sum, Counts{1, Time{1}}), (Counts{~std::uint64_t{0}, Time{-3}}));
}

TEST(CountsInWindow, HasWhatOthersCountedInIt) {
  CountsInWindow<Counts> counts;
  Counts all{3, Time{30}};
  EXPECT_EQ(counts.window(all), all) << "from the beginning, until it opens";
  for (const Counts& before : {Counts{5, Time{50}}, Counts{9, Time{70}}}) {
    all = before;
    counts.open(Time{100}, all);
    EXPECT_EQ(counts.closed_window(), (Counts{}));
    all = sum_of(all, {2, Time{-7}});
    EXPECT_EQ(counts.window(all), (Counts{2, Time{-7}}));
    counts.close(Time{200}, all);
    all = sum_of(all, {1000, Time{1000}});
    counts.close(Time{250}, all);  // it is closed
    EXPECT_EQ(counts.window(all), (Counts{2, Time{-7}}));
    EXPECT_EQ(counts.closed_window(), (Counts{2, Time{-7}}));
  }
}

TEST(CountsInWindow, WithoutAnOpeningItBeganWithTheRun) {
  CountsInWindow<Counts> counts;
  counts.close(Time{200}, {4, Time{40}});
  EXPECT_EQ(counts.closed_window(), (Counts{4, Time{40}}));
}

TEST(EntriesInWindow, TakesThemInItAloneAndBeginsAnew) {
  struct Extremes {
    double least = 100;
    double most = 0;
  };
  EntriesInWindow<Extremes> extremes;
  EXPECT_FALSE(extremes.is_open());
  for (const double value : {7.0, 3.0, 5.0}) {
    extremes.open(Time{100});
    EXPECT_TRUE(extremes.is_open());
    EXPECT_EQ(extremes->least, 100);
    EXPECT_EQ(extremes->most, 0);
    extremes->least = extremes->most = value;
    extremes.close(Time{200});
    EXPECT_FALSE(extremes.is_open());
    EXPECT_EQ(extremes->most, value);
    EXPECT_EQ(extremes.measured().length(), Time{100});
  }
}

}  // namespace
}  // namespace cxloom

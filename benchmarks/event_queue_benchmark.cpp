// The hold model: take the earliest event, schedule one a random time later, so many pending at all times,
// within so many picoseconds: those of the fine wheel, of the coarse one, and beyond.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "base/random.hpp"
#include "kernel/event_queue.hpp"

namespace {

void hold(benchmark::State& state) {
  cxloom::EventQueue queue;
  cxloom::RandomStream random(1, "hold", "times");
  std::uint64_t order = 0;
  const auto later = [&](cxloom::Time now) {
    return now +
           cxloom::Time{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(state.range(1))))};
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({later({}), order++, nullptr, 0});
  for (auto _ : state) {
    const cxloom::Time now = queue.top().time;
    queue.pop();
    queue.push({later(now), order++, nullptr, 0});
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(hold)->ArgsProduct({{10, 1000, 100'000}, {2'000'000, 1'000'000'000, 40'000'000'000}});

}  // namespace

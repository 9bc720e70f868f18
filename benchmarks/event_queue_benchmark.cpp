// The hold model: take the earliest event, schedule one a random time later, so many pending at all times.
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
    return now + cxloom::Time{static_cast<std::int64_t>(random.below(2'000'000))};
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.push({later({}), order++, nullptr, 0});
  for (auto _ : state) {
    const cxloom::Time now = queue.top().time;
    queue.pop();
    queue.push({later(now), order++, nullptr, 0});
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(hold)->Arg(10)->Arg(1000)->Arg(100'000);

}  // namespace

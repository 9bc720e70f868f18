// A fully associative snoop filter of a million entries: look-ups of uniformly drawn lines, half of which are
// there; of the others each comes in for a victim. And a stream of lines in order, none of which is there.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/kind_registry.hpp"
#include "coherence/home/snoop_filter.hpp"

namespace {

using namespace cxloom;

constexpr std::uint32_t kEntries = 1'000'000;

const VictimRegistry& victims() {
  static const VictimRegistry kinds = [] {
    VictimRegistry registry("victim policy");
    register_victims(registry);
    return registry;
  }();
  return kinds;
}

bool access(SnoopFilter& filter, LineAddress line) {
  const Slot slot = filter.find(line);
  if (slot != kNoSlot) {
    filter.touch(slot);
    filter.add_owner(slot, 1);
    return true;
  }
  if (!filter.has_room(line)) {
    for (const Slot victim : filter.victims_for(line)) filter.erase(victim);
  }
  filter.add_owner(filter.insert(line, FilterState::kShared), 0);
  return false;
}

void drive(benchmark::State& state, const SnoopFilterParams& params, bool stream) {
  SnoopFilter filter(params, 64, victims(), RandomStream(1, "benchmark", "victims"));
  RandomStream random(1, "benchmark", "lines");
  std::vector<LineAddress> lines;
  if (!stream) {
    for (int i = 0; i < (1 << 22); ++i) lines.emplace_back(random.below(2 * kEntries));
  }
  std::uint64_t number = 0;
  for (; number < 4 * kEntries; ++number)
    access(filter, stream ? LineAddress{number} : lines[number % lines.size()]);
  std::int64_t found = 0;
  for (auto _ : state) {
    found += access(filter, stream ? LineAddress{number} : lines[number % lines.size()]);
    ++number;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["found"] =
      benchmark::Counter(static_cast<double>(found) / static_cast<double>(state.iterations()));
}

SnoopFilterParams params_of(const std::string& policy, std::uint32_t block) {
  SnoopFilterParams params;
  params.entries = policy == "tree-plru" ? 1 << 20 : kEntries;
  params.policy.kind = policy;
  params.block = block;
  return params;
}

void add(const std::string& name, const SnoopFilterParams& params, bool stream) {
  benchmark::RegisterBenchmark(("snoop_filter/" + name).c_str(),
                               [=](benchmark::State& state) { drive(state, params, stream); });
}

const auto kRegistered = [] {
  for (const std::string& policy : victims().names()) {
    if (policy == "srrip") continue;  // looks at all ways of the set
    add("drawn/" + policy, params_of(policy, 1), false);
  }
  add("drawn/longest-block/4", params_of("longest-block", 4), false);
  for (const std::uint32_t block : {1U, 4U}) {
    for (const std::string policy : {"lru", "lifo", "lfi", "longest-block"})
      add("stream/" + policy + "/" + std::to_string(block), params_of(policy, block), true);
  }
  return true;
}();

}  // namespace

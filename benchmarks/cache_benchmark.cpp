// Accesses through one level of caches: all of them hits, or nearly all misses that evict a line.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/random.hpp"
#include "tags/cache_hierarchy.hpp"

namespace {

using namespace cxloom;

const VictimRegistry& victims() {
  static const VictimRegistry kinds = [] {
    VictimRegistry registry("victim policy");
    register_victims(registry);
    return registry;
  }();
  return kinds;
}

// Uniformly drawn lines, so many different ones, drawn beforehand.
std::vector<LineAddress> drawn(std::uint64_t different) {
  RandomStream random(1, "benchmark", "lines");
  std::vector<LineAddress> lines;
  for (int i = 0; i < (1 << 20); ++i) lines.emplace_back(random.below(different));
  return lines;
}

void access(benchmark::State& state, std::uint64_t lines, std::uint32_t ways, const std::string& policy,
            std::uint64_t different) {
  CacheParams params;
  params.size = Bytes{lines * kLineBytes};
  params.ways = ways;
  params.policy.kind = policy;
  CacheHierarchy caches({params}, victims());
  const std::vector<LineAddress> accessed = drawn(different);
  const auto drop = [](LineAddress, AccessKind) {};
  for (std::uint64_t line = 0; line < different; ++line)
    caches.access_line(LineAddress{line}, AccessKind::kRead, drop);
  std::size_t at = 0;
  for (auto _ : state) {
    caches.access_line(accessed[at], AccessKind::kRead, drop);
    at = (at + 1) % accessed.size();
  }
  state.SetItemsProcessed(state.iterations());
}

const auto kRegistered = [] {
  for (const std::string policy : {"lru", "fifo", "random", "srrip", "tree-plru"}) {
    for (const bool hits : {true, false}) {
      const std::string name = std::string(hits ? "cache/hits/" : "cache/misses/") + policy;
      const std::uint64_t lines = 512;
      const std::uint64_t different = hits ? lines : 64 * lines;
      benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { access(state, lines, 8, policy, different); });
    }
  }
  // Half of the accesses to a cache of 2^20 lines in one set are hits.
  benchmark::RegisterBenchmark("cache/one_set/lru",
                               [](benchmark::State& state) { access(state, 1 << 20, 0, "lru", 1 << 21); });
  return true;
}();

}  // namespace

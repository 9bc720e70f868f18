// Which share of the lookups each level of a cache ends: closed forms for independent draws, for one fixed
// cycle through all lines, and for its first lap. With W lines that are used, f is the lines of a level / W.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr double kTolerance = 0.01;
constexpr std::uint64_t kUsed = 2048;  // W

struct LevelOf {
  std::uint64_t lines;
  bool inclusive = false;
  int ways = 0;
};

/// What lookups end in each level, as a share of all lookups. Each access is made alone, and takes what its
/// level takes, exactly.
std::vector<double> shares(const std::vector<LevelOf>& levels, const std::string& policy,
                           const std::vector<std::uint64_t>& lines, std::size_t warmup) {
  const std::vector<Time> access_times{2_ns, 5_ns, 20_ns};
  const auto level_of = [&](std::size_t level) {
    Value::Map params{{"size", std::to_string(levels[level].lines * kLineBytes) + "B"},
                      {"ways", levels[level].ways},
                      {"policy", policy},
                      {"access_time", std::to_string(access_times[level].ps()) + "ps"}};
    if (level > 0) params.emplace_back("inclusive", levels[level].inclusive);
    return params;
  };
  Value::Map cache = level_of(0);
  Value::List behind;
  for (std::size_t level = 1; level < levels.size(); ++level) behind.emplace_back(level_of(level));
  if (!behind.empty()) cache.emplace_back("levels", behind);
  std::vector<Access> accesses;
  accesses.reserve(lines.size());
  for (const std::uint64_t line : lines) accesses.push_back(access_to(line * kLineBytes));
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "10ns"}, {"queue", 1}, {"cache", cache}})
      .device("mem", "memory",
              {{"capacity", "1MiB"},
               {"controller_time", "40ns"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}})
      .link("host", "mem", {{"port_delay", "25ns"}})
      .region({"mem"})
      .replay("host", accesses)
      .run_with({{"warmup", static_cast<std::int64_t>(warmup)}});
  Running run(system);
  run.to_end();

  std::vector<Time> latencies;  // of a hit in each level, and of a miss
  Time latency = 10_ns;
  for (std::size_t level = 0; level < levels.size(); ++level)
    latencies.push_back(latency += access_times[level]);
  latencies.push_back(latency + 50_ns + 40_ns + 45_ns + 50_ns);
  std::vector<std::uint64_t> taken(latencies.size());
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    const auto found = std::find(latencies.begin(), latencies.end(), run.latency(row));
    EXPECT_NE(found, latencies.end()) << run.latency(row).ps() << " ps";
    if (found != latencies.end()) ++taken[static_cast<std::size_t>(found - latencies.begin())];
  }
  const double rows = static_cast<double>(run.table().rows());
  std::vector<double> result;
  for (std::size_t level = 0; level < levels.size(); ++level)
    result.push_back(static_cast<double>(taken[level]) / rows);

  // The measures say what the latencies say.
  EXPECT_DOUBLE_EQ(run.number({"per_requester", "host", "cache_hit_rate"}),
                   std::accumulate(result.begin(), result.end(), 0.0));
  if (levels.size() > 1) {
    const Value summary = run.summary();
    const Value* measured = summary.find("per_requester")->find("host")->find("cache_levels");
    for (std::size_t level = 0; level < levels.size(); ++level)
      EXPECT_EQ(*(*measured->as_list())[level].find("hits")->as_integer(),
                static_cast<std::int64_t>(taken[level]));
  }
  return result;
}

std::vector<std::uint64_t> draws(std::size_t count) {
  RandomStream random(3, "hit rates", "draws");
  std::vector<std::uint64_t> lines(count);
  for (std::uint64_t& line : lines) line = random.below(kUsed);
  return lines;
}

std::vector<std::uint64_t> shuffled(std::uint64_t count, const char* purpose) {
  RandomStream random(4, "hit rates", purpose);
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::vector<std::uint64_t> laps(const std::vector<std::uint64_t>& lap, int count) {
  std::vector<std::uint64_t> lines;
  for (int i = 0; i < count; ++i) lines.insert(lines.end(), lap.begin(), lap.end());
  return lines;
}

std::uint64_t lines_of(double f) { return static_cast<std::uint64_t>(f * static_cast<double>(kUsed)); }

/// The x between 0 and 1 at which `rest` changes its sign.
double root(double low, double high, const std::function<double(double)>& rest) {
  const bool positive = rest(low) > 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    ((rest(middle) > 0) == positive ? low : high) = middle;
  }
  return low;
}

// ---- Independent draws

// A draw knows nothing of what is held: it hits with the share of the lines that is held, whatever the
// policy. Levels that include the nearer ones hold what they have room for, and nothing else is held.
TEST(CacheHitRate, IndependentDrawsHitWithTheShareThatIsHeld) {
  const std::vector<double> f{1.0 / 16, 1.0 / 4, 5.0 / 8};
  for (const auto& [policy, ways] : std::vector<std::pair<const char*, int>>{
           {"lru", 0}, {"random", 0}, {"fifo", 8}, {"srrip", 8}, {"tree-plru", 8}}) {
    std::vector<LevelOf> levels;
    levels.reserve(f.size());
    for (const double each : f) levels.push_back({lines_of(each), true, ways});
    const std::vector<double> hits = shares(levels, policy, draws(35'000), 5'000);
    double nearer = 0;
    for (std::size_t level = 0; level < f.size(); ++level) {
      EXPECT_NEAR(hits[level], f[level] - nearer, kTolerance) << policy << " level " << level;
      nearer = f[level];
    }
  }
}

// A level that does not include the nearer one holds other lines besides. Random replacement makes a Markov
// chain of a line: it is drawn with rate 1, then it is in all levels up to the first that had it, or in all;
// it leaves level i with the rate at which lines come there / f.
std::vector<double> random_levels(const std::vector<double>& f) {
  const std::size_t states = std::size_t{1} << f.size();  // a bit for each level that holds it
  const auto first_of = [&](std::size_t state) {
    std::size_t level = 0;
    while (level < f.size() && (state >> level & 1U) == 0) ++level;
    return level;
  };
  std::vector<double> share(states);
  share[0] = 1;
  constexpr double kStep = 0.01;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<double> comes(f.size());
    std::vector<double> holds(f.size());
    for (std::size_t state = 0; state < states; ++state) {
      for (std::size_t level = 0; level < f.size(); ++level) {
        if (first_of(state) > level) comes[level] += share[state];
        if ((state >> level & 1U) != 0) holds[level] += share[state];
      }
    }
    std::vector<double> next = share;
    const auto flow = [&](std::size_t from, std::size_t to, double rate) {
      next[from] -= kStep * rate * share[from];
      next[to] += kStep * rate * share[from];
    };
    for (std::size_t state = 0; state < states; ++state) {
      flow(state, state | ((std::size_t{1} << first_of(state)) - 1), 1);
      for (std::size_t level = 0; level < f.size(); ++level) {
        const std::size_t bit = std::size_t{1} << level;
        // Until it is full, nothing leaves it.
        if ((state & bit) != 0 && holds[level] >= f[level] - 1e-9)
          flow(state, state & ~bit, comes[level] / holds[level]);
      }
    }
    share = next;
  }
  std::vector<double> hits(f.size());
  for (std::size_t state = 1; state < states; ++state) hits[first_of(state)] += share[state];
  return hits;
}

TEST(CacheHitRate, RandomLevelsThatDoNotIncludeEachOtherHoldMore) {
  for (const std::vector<double>& f : {std::vector{0.25, 0.5}, std::vector{0.125, 0.25, 0.5}}) {
    std::vector<LevelOf> levels;
    levels.reserve(f.size());
    for (const double each : f) levels.push_back({lines_of(each)});
    const std::vector<double> hits = shares(levels, "random", draws(35'000), 5'000);
    const std::vector<double> expected = random_levels(f);
    for (std::size_t level = 0; level < f.size(); ++level)
      EXPECT_NEAR(hits[level], expected[level], kTolerance) << level;
    // 0.557 and 0.575: more than the last level alone.
    EXPECT_GT(std::accumulate(hits.begin(), hits.end(), 0.0), f.back() + 0.04);
  }
}

// Under LRU a line is in the first level if it was drawn within T1 (e^-T1 = 1 - f1), and in the second if it
// missed the first within T2: its hits there do not refresh it. G(s), the chance that of a line that missed
// nothing missed for s, is 1 up to T1, and then G' = -e^-T1 G(s - T1). T2 is where the lines that missed
// within it fill the second level; a miss of the first finds nothing there if the last one is older.
TEST(CacheHitRate, UnderLruTheSecondLevelHearsOfMissesOnly) {
  for (const auto& [f1, f2] :
       std::vector<std::pair<double, double>>{{0.25, 0.5}, {0.125, 0.25}, {0.5, 0.75}}) {
    const double t1 = -std::log(1 - f1);
    constexpr std::size_t kSteps = 2000;  // in T1
    const double step = t1 / kSteps;
    std::vector<double> g(kSteps + 1, 1.0);
    double held = step * static_cast<double>(kSteps) * (1 - f1);
    std::size_t at = kSteps;
    if (held > f2) {
      at = static_cast<std::size_t>(f2 / (1 - f1) / step);
    } else {
      while (held < f2) {
        g.push_back(g[at] - step * (1 - f1) * g[at - kSteps]);
        held += g[++at] * step * (1 - f1);
      }
    }
    const double missed = (1 - f1) * g[at];
    const std::vector<double> hits = shares({{lines_of(f1)}, {lines_of(f2)}}, "lru", draws(35'000), 5'000);
    EXPECT_NEAR(hits[0], f1, kTolerance);
    EXPECT_NEAR(hits[0] + hits[1], 1 - missed, kTolerance) << f1 << " " << f2;
  }
}

// ---- One fixed cycle through all lines

// The line needed next has waited longest.
TEST(CacheHitRate, ACycleUnderLruHitsTheFirstLevelThatHoldsAllOfIt) {
  for (const bool inclusive : {false, true}) {
    const std::vector<LevelOf> levels{{64, false}, {512, inclusive}, {kUsed, inclusive}};
    for (const auto& [used, level] : std::vector<std::pair<std::uint64_t, std::size_t>>{
             {64, 0}, {65, 1}, {512, 1}, {513, 2}, {kUsed, 2}}) {
      std::vector<double> expected(3, 0.0);
      expected[level] = 1.0;
      EXPECT_EQ(shares(levels, "lru", laps(shuffled(used, "cycle"), 4), used), expected) << used;
    }
    EXPECT_EQ(shares(levels, "lru", laps(shuffled(kUsed + 1, "cycle"), 4), kUsed + 1),
              std::vector<double>(3, 0.0));
  }
}

// It is still there if none of the misses of a lap chose it: h = (1 - 1/C)^(W (1 - h)), which for many lines
// is exp(-(1 - h) / f). h = 1 solves it, too; but a smaller start does not lead there. A level that includes
// the nearer ones follows this together with them.
TEST(CacheHitRate, ACycleUnderRandomReplacement) {
  const auto survives = [](double f) {
    return root(0, f, [f](double h) { return std::exp(-(1 - h) / f) - h; });
  };
  for (const double f : {0.25, 0.5, 0.75}) {
    const std::vector<double> hits = shares({{lines_of(f / 4)}, {lines_of(f / 2), true}, {lines_of(f), true}},
                                            "random", laps(shuffled(kUsed, "cycle"), 20), 10 * kUsed);
    double nearer = 0;
    for (const auto& [level, of] :
         std::vector<std::pair<std::size_t, double>>{{0, f / 4}, {1, f / 2}, {2, f}}) {
      EXPECT_NEAR(hits[level], survives(of) - nearer, kTolerance) << f << " level " << level;
      nearer = survives(of);
    }
  }
}

// A set of w ways in which n lines follow each other is a Markov chain: which of them it holds, counted from
// the one that is needed next. It is held: nothing changes. It is not: any of the w leaves, with equal
// chance. Then the next one is needed.
double cycle_in_a_set(unsigned n, unsigned ways) {
  const std::uint32_t states = 1U << n;
  const auto advanced = [&](std::uint32_t held) { return held >> 1U | (held & 1U) << (n - 1); };
  std::vector<double> share(states);
  share[(1U << ways) - 1] = 1;
  double hits = 0;
  constexpr int kSettling = 1000;
  constexpr int kMeasured = 1000;
  for (int i = 0; i < kSettling + kMeasured; ++i) {
    std::vector<double> next(states);
    double hit = 0;
    for (std::uint32_t held = 0; held < states; ++held) {
      if (share[held] == 0) continue;
      if ((held & 1U) != 0) {
        hit += share[held];
        next[advanced(held)] += share[held];
        continue;
      }
      for (unsigned line = 0; line < n; ++line) {
        if ((held >> line & 1U) != 0) next[advanced((held & ~(1U << line)) | 1U)] += share[held] / ways;
      }
    }
    share = next;
    if (i >= kSettling) hits += hit / kMeasured;
  }
  return hits;
}

TEST(CacheHitRate, ACycleUnderRandomReplacementInSets) {
  for (const auto& [lines, ways] : std::vector<std::pair<unsigned, unsigned>>{{4, 2}, {8, 4}, {8, 6}}) {
    const std::uint64_t sets = kUsed / lines;
    const std::vector<double> hits = shares({{sets * ways, false, static_cast<int>(ways)}}, "random",
                                            laps(shuffled(kUsed, "cycle"), 20), 10 * kUsed);
    EXPECT_NEAR(hits[0], cycle_in_a_set(lines, ways), kTolerance) << lines << " " << ways;
  }
}

// A second level that does not include the first loses a line with probability 1 - s in a lap, s = exp(-m /
// f2), if it has m misses per access. It has the line after a use if the first level missed it, or if it had
// it before: q = (1 - h) / (1 - h s).
TEST(CacheHitRate, ACycleUnderRandomReplacementInLevelsThatDoNotIncludeEachOther) {
  for (const auto& [f1, f2] : std::vector<std::pair<double, double>>{{0.5, 0.5}, {0.25, 0.5}, {0.5, 0.75}}) {
    const double h = root(0, f1, [f1 = f1](double each) { return std::exp(-(1 - each) / f1) - each; });
    const auto missed = [&, f2 = f2](double m) {
      const double s = std::exp(-m / f2);
      return (1 - h) * (1 - s * (1 - h) / (1 - h * s));
    };
    const double m = root(1e-3, 1, [&](double each) { return missed(each) - each; });
    const std::vector<double> hits =
        shares({{lines_of(f1)}, {lines_of(f2)}}, "random", laps(shuffled(kUsed, "cycle"), 20), 10 * kUsed);
    EXPECT_NEAR(hits[0], h, kTolerance);
    EXPECT_NEAR(hits[0] + hits[1], 1 - m, kTolerance) << f1 << " " << f2;
  }
}

// ---- The first lap

// The lines were filled in the order of their addresses, so that the last f of them are held. After t of the
// lap, which goes through the pages in random order again and again, a line of each page at a time, all t are
// held that were used, and of the others the latest: (f - t) / (1 - t). Summed up to t = f that is f + (1 -
// f) ln(1 - f).
TEST(CacheHitRate, TheFirstLapUnderLruAfterFillingPageByPage) {
  constexpr std::uint64_t kLinesOfPage = 64;
  constexpr std::uint64_t kPages = 64;
  constexpr std::uint64_t kLines = kPages * kLinesOfPage;
  std::vector<std::uint64_t> lines(kLines);
  std::iota(lines.begin(), lines.end(), std::uint64_t{0});
  for (std::uint64_t step = 0; step < kLinesOfPage; ++step) {
    std::uint64_t reversed = 0;
    for (unsigned bit = 0; bit < 6; ++bit) reversed |= (step >> bit & 1U) << (5 - bit);
    for (const std::uint64_t page : shuffled(kPages, "pages"))
      lines.push_back(page * kLinesOfPage + reversed);
  }
  for (const double f : {0.25, 0.5, 0.75, 0.9}) {
    for (const bool inclusive : {false, true}) {
      const double first = 1.0 / 64;
      const auto lap = [](double of) { return of + (1 - of) * std::log(1 - of); };
      const auto share_of = [](double of) {
        return static_cast<std::uint64_t>(of * static_cast<double>(kLines));
      };
      const std::vector<double> hits =
          shares({{share_of(first)}, {share_of(f), inclusive}}, "lru", lines, kLines);
      EXPECT_NEAR(hits[0], lap(first), kTolerance);
      EXPECT_NEAR(hits[0] + hits[1], lap(f), kTolerance) << f;
    }
  }
}

}  // namespace
}  // namespace cxloom::test

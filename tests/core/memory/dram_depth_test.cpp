// More accesses in flight never lower the bandwidth: the scheduler sees its queue, whatever waits outside.
// A slice of presets, patterns and depths in every run of the tests; all of them with CXLOOM_DRAM_DEPTHS=all (make dram-check).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;

/// Streams side by side, one access of each by turns, or random accesses.
struct Pattern {
  const char* name;
  std::uint64_t streams;  ///< 0: random
  /// Whether the i-th access is a write.
  bool (*write)(std::uint64_t i);
};

bool never(std::uint64_t /*i*/) { return false; }
bool always(std::uint64_t /*i*/) { return true; }
bool each_second(std::uint64_t i) { return i % 2 == 1; }
bool each_third(std::uint64_t i) { return i % 3 == 2; }

const std::vector<Pattern> kPatterns{{"a stream", 1, never},
                                     {"two streams", 2, never},
                                     {"three streams", 3, never},
                                     {"eight streams", 8, never},
                                     {"copy", 2, each_second},
                                     {"triad", 3, each_third},
                                     {"a stream written", 1, always},
                                     {"three streams written", 3, always},
                                     {"random", 0, never},
                                     {"random written", 0, always},
                                     {"random, a third written", 0, each_third},
                                     {"random, half written", 0, each_second}};

constexpr std::uint64_t kSpan = 1ULL << 30U;

/// Bandwidth with so many accesses in flight. Streams begin at equal parts of the memory, all in the same bank, but for
/// `apart` bytes between the first two, twice that between the next, and so on.
double bandwidth(const DramParams& params, const Pattern& pattern, std::uint64_t apart, std::uint64_t depth,
                 std::uint64_t count) {
  DramBench bench(params);
  RandomStream random(1, "dram", "depth");
  std::uint64_t i = 0;
  return bench
      .loop(
          [&] {
            const std::uint64_t n = i++;
            if (pattern.streams == 0) return DramAccess{random.below(kSpan / 64) * 64, pattern.write(n), 64};
            const std::uint64_t stream = n % pattern.streams;
            const std::uint64_t begin = stream * (kSpan / 8) + stream * (stream + 1) / 2 * apart;
            return DramAccess{begin + n / pattern.streams * 64, pattern.write(n), 64};
          },
          count, depth)
      .gb_per_s;
}

/// Depths and bandwidths, and by what share the bandwidth is below that of a lower depth at most.
struct Curve {
  double fall = 0;
  std::string text;
};
Curve curve(const DramParams& params, const Pattern& pattern, const std::vector<std::uint64_t>& aparts,
            const std::vector<std::uint64_t>& depths, std::uint64_t count) {
  Curve result;
  double best = 0;
  for (const std::uint64_t depth : depths) {
    double sum = 0;
    for (const std::uint64_t apart : aparts) sum += bandwidth(params, pattern, apart, depth, count);
    const double mean = sum / static_cast<double>(aparts.size());
    result.text += " " + std::to_string(depth) + ": " + std::to_string(mean);
    best = std::max(best, mean);
    result.fall = std::max(result.fall, 1 - mean / best);
  }
  return result;
}

/// The distances that put the second stream into each bank of a group and rank in turn, with the usual mapping.
std::vector<std::uint64_t> every_bank(const DramOrganisation& o, std::uint32_t ranks) {
  const std::uint64_t stripe = std::uint64_t{o.sub_channels} * o.bank_groups * o.columns * (o.width / 8);
  std::vector<std::uint64_t> aparts;
  for (std::uint64_t i = 0; i < std::uint64_t{o.banks} * ranks; ++i) aparts.push_back(i * stripe);
  return aparts;
}

// Where ages counted from the arrival outside the queue, this fell to a third.
TEST(DramDepth, StreamsInTheSameBanksKeepTheirBandwidth) {
  struct Case {
    const char* preset;
    std::uint32_t ranks;
    std::size_t pattern;
  };
  for (const Case& c : {Case{"DDR4-3200", 2, 2}, Case{"DDR5-4800", 1, 2}, Case{"test-D5", 1, 5},
                        Case{"LPDDR5-6400", 1, 3}, Case{"HBM3-6400", 1, 7}}) {
    DramParams params = DramBench::preset(c.preset);
    params.ranks = c.ranks;
    const Curve found = curve(params, kPatterns[c.pattern], {0}, {32, 64, 128, 256, 512, 1024}, 8000);
    EXPECT_LT(found.fall, 0.04) << c.preset << ", " << kPatterns[c.pattern].name << found.text;
  }
}

// Over all presets. Posted writes run ahead of reads, the farther the more is in flight, so that the banks in which two
// streams meet depend on the depth: at one distance of the streams it is luck, and so the mean over all banks counts.
TEST(DramDepth, BandwidthDoesNotFallWithTheDepth) {
  const char* const wanted = std::getenv("CXLOOM_DRAM_DEPTHS");
  const bool all = wanted && std::string(wanted) == "all";
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    for (const std::uint32_t ranks : {1U, 2U}) {
      for (const Pattern& pattern : kPatterns) {
        if (!all && n++ % 9 != 0) continue;
        DramParams params = DramBench::preset(std::string(device.name));
        params.ranks = ranks;
        const auto aparts =
            pattern.streams < 2 ? std::vector<std::uint64_t>{0} : every_bank(device.organisation, ranks);
        std::vector<std::uint64_t> depths{16, 64, 256, 1024};
        if (all) depths = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
        const std::uint64_t count = (all ? 48'000 : 16'000) / aparts.size();
        const Curve found = curve(params, pattern, aparts, depths, count);
        const bool mixed =
            pattern.streams > 1 && (pattern.write == each_second || pattern.write == each_third);
        EXPECT_LT(found.fall, mixed ? 0.07 : 0.04)
            << device.name << " of " << ranks << " ranks, " << pattern.name << ":" << found.text;
      }
    }
  }
}

}  // namespace
}  // namespace cxloom

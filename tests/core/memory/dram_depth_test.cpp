// More accesses in flight never lower the bandwidth: the scheduler sees its queue, whatever waits outside.
// A slice of presets, patterns and depths in every run of the tests; all of them with CXLOOM_DRAM_DEPTHS=all (make dram-check).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;

// Sanitized code is some ten times as slow.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// What each of several requesters does: it goes through arrays side by side, one access of each by turns, or goes
/// anywhere.
struct Pattern {
  const char* name;
  std::uint64_t hosts;
  std::uint64_t arrays;  ///< of each host; 0: random
  /// Whether the i-th access of a host is a write.
  bool (*write)(std::uint64_t i);
};

bool never(std::uint64_t /*i*/) { return false; }
bool always(std::uint64_t /*i*/) { return true; }
bool each_second(std::uint64_t i) { return i % 2 == 1; }
bool each_third(std::uint64_t i) { return i % 3 == 2; }

const std::vector<Pattern> kPatterns{{"a stream", 1, 1, never},
                                     {"three streams", 1, 3, never},
                                     {"eight streams", 1, 8, never},
                                     {"two hosts reading", 2, 1, never},
                                     {"three hosts reading", 3, 1, never},
                                     {"five hosts reading", 5, 1, never},
                                     {"a stream written", 1, 1, always},
                                     {"three streams written", 1, 3, always},
                                     {"copy", 1, 2, each_second},
                                     {"two hosts copying", 2, 2, each_second},
                                     {"triad", 1, 3, each_third},
                                     {"three hosts with a triad", 3, 3, each_third},
                                     {"random", 1, 0, never},
                                     {"random, five hosts, a third written", 5, 0, each_third}};

/// Where arrays begin: at equal parts of the memory, a power of two each, and beyond that by `apart` more than the one before.
double bandwidth(const DramParams& params, const Pattern& pattern, std::uint64_t apart, std::uint64_t depth,
                 std::uint64_t count) {
  DramBench bench(params);
  const std::uint64_t bytes = bench.media.config().capacity();
  std::vector<std::function<DramAccess()>> hosts;
  for (std::uint64_t host = 0; host < pattern.hosts; ++host) {
    const auto place = [=, i = std::uint64_t{0}, requester = NodeId{static_cast<std::uint16_t>(host)},
                        random = RandomStream(1, "dram", "host " + std::to_string(host))]() mutable {
      const std::uint64_t n = i++;
      if (pattern.arrays == 0)
        return DramAccess{random.below(bytes / 64) * 64, pattern.write(n), 64, requester};
      const std::uint64_t array = host * pattern.arrays + n % pattern.arrays;
      return DramAccess{array * (bytes / 16 + apart) + n / pattern.arrays * 64, pattern.write(n), 64,
                        requester};
    };
    hosts.emplace_back(place);
  }
  return bench.hosts(hosts, count, depth).gb_per_s;
}

/// What is left (docs/model/dram.md, Depth): writes that run ahead of the reads of a copy, and hosts that all wait for a rank.
double allowed(const Pattern& pattern, std::uint32_t ranks) {
  if (pattern.write == each_second) return pattern.hosts == 1 ? 0.10 : 0.06;
  return pattern.hosts > 1 && ranks > 1 ? 0.045 : 0.03;
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

// Without the hash, all in the same banks. Where ages counted from the arrival outside the queue, this fell to a third.
TEST(DramDepth, StreamsInTheSameBanksKeepTheirBandwidth) {
  struct Case {
    const char* preset;
    std::uint32_t ranks;
    std::uint64_t streams;
    bool (*write)(std::uint64_t);
  };
  for (const Case& c : {Case{"DDR4-3200", 2, 3, never}, Case{"DDR5-4800", 1, 3, never},
                        Case{"test-D5", 1, 3, each_third}, Case{"LPDDR5-6400", 1, 8, never}}) {
    DramParams params = DramBench::preset(c.preset);
    params.ranks = c.ranks;
    params.bank_hash = BankHash::kNone;
    const Pattern pattern{"streams", 1, c.streams, c.write};
    const Curve found = curve(params, pattern, {0}, {32, 64, 128, 256, 512, 1024}, kSanitized ? 4000 : 8000);
    EXPECT_LT(found.fall, 0.04) << c.preset << ", " << c.streams << found.text;
  }
}

// Memories of several hosts that begin 1 GiB apart: without a hash of the whole row all of them go through the same banks at
// the same time, and once one queue is full of each host in turn, no host gets ahead of the other any more.
TEST(DramDepth, HostsAPowerOfTwoApartKeepTheirBandwidth) {
  struct Case {
    std::uint64_t hosts;
    std::vector<std::uint64_t> depths;
  };
  for (const Case& c : {Case{2, {96, 112, 128, 144, 200}}, Case{5, {96, 128, 160, 192, 300}}}) {
    DramParams params = DramBench::preset("DDR4-3200");
    params.ranks = 2;
    const Pattern pattern{"hosts", c.hosts, 1, never};
    const Curve found = curve(params, pattern, {0}, c.depths, kSanitized ? 10'000 : 60'000);
    EXPECT_LT(found.fall, 0.03) << c.hosts << " hosts:" << found.text;
  }
}

// Over all presets. In which banks streams meet depends on where they begin and on how far writes that are accepted run ahead
// of the reads. That is luck at one distance, and so the mean over some counts, aligned and not. Several hosts that meet in a
// bank go in turn once a queue is full of each, unless each has its share of the queue (docs/model/dram.md, Depth).
TEST(DramDepth, BandwidthDoesNotFallWithTheDepth) {
  const char* const wanted = std::getenv("CXLOOM_DRAM_DEPTHS");
  const bool all = wanted && std::string(wanted) == "all";
  const std::size_t stride = all ? 1 : kSanitized ? 63 : 13;
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    const DramOrganisation& o = device.organisation;
    for (const std::uint32_t ranks : {1U, 2U}) {
      for (const Pattern& pattern : kPatterns) {
        if (n++ % stride != 0) continue;
        DramParams params = DramBench::preset(std::string(device.name));
        params.ranks = ranks;
        // A row in all bank groups, one bank after the other.
        const std::uint64_t stripe =
            std::uint64_t{o.sub_channels} * o.bank_groups * o.columns * (o.width / 8);
        std::vector<std::uint64_t> aparts{0};
        if (pattern.hosts * pattern.arrays > 1)
          aparts = {0, stripe / 2, stripe, 5 * stripe / 4, 11 * stripe / 8, 23 * stripe / 8};
        std::vector<std::uint64_t> depths{24, 60, 100, 136, 200, 330, 700};
        if (kSanitized) depths = {24, 100, 200};
        if (all) depths = {3, 8, 16, 24, 48, 64, 100, 128, 192, 256, 450, 1024};
        const Curve found = curve(params, pattern, aparts, depths,
                                  std::uint64_t{kSanitized ? 6000U : 12'000U} * o.sub_channels);
        EXPECT_LT(found.fall, allowed(pattern, ranks))
            << device.name << " of " << ranks << " ranks, " << pattern.name << ":" << found.text;
      }
    }
  }
}

}  // namespace
}  // namespace cxloom

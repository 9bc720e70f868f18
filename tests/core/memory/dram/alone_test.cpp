// A burst that is alone in its sub-channel is served without the scheduler. Its commands must be those that
// the scheduler would have sent. A row policy that may close rows at any time, and never does, keeps it on
// the scheduler's way, and changes nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/random.hpp"
#include "core/support/dram_bench.hpp"
#include "core/support/media_kinds.hpp"
#include "memory/dram/row_policy/adaptive.hpp"
#include "memory/dram/row_policy/closed.hpp"
#include "memory/dram/row_policy/open.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {
namespace {

using test::DramBench;

/// As the policy, and rows might time out.
template <class Policy>
class Scheduled final : public DramRowPolicy {
 public:
  using Params = typename Policy::Params;
  Scheduled(const Params& params, const DramRowContext& context) : policy_(params, context) {}

  void opened(std::uint32_t bank, std::uint32_t row) override {
    static_cast<DramRowPolicy&>(policy_).opened(bank, row);
  }
  bool used(std::uint32_t bank, bool again, Clock now) override { return policy_.used(bank, again, now); }
  bool times_out() const override { return true; }

 private:
  Policy policy_;
};

const MediaRegistry& row_kinds() {
  static const MediaRegistry all = [] {
    MediaRegistry registry = test::media_kinds();
    registry.row_policies.add<Scheduled<DramRowOpen>>("scheduled-open");
    registry.row_policies.add<Scheduled<DramRowClosed>>("scheduled-closed");
    registry.row_policies.add<Scheduled<DramRowAdaptive>>("scheduled-adaptive");
    return registry;
  }();
  return all;
}

struct Commands final : DramCommandLog {
  void command(std::uint32_t sub_channel, const DramCommandRecord& record) override {
    if (sub_channel >= of.size()) of.resize(sub_channel + 1);
    of[sub_channel].push_back(std::to_string(record.clock) + " " + std::string(to_text(record.command)) +
                              " " + std::to_string(record.rank) + " " + std::to_string(record.bank) + " " +
                              std::to_string(record.row) + " " + std::to_string(record.column));
  }
  std::vector<std::vector<std::string>> of;  ///< by sub-channel: the order between them has no meaning
};

struct Trace {
  Commands commands;
  std::vector<Time> done;
  std::vector<double> measured;
};

constexpr const char* kMeasures[] = {"row_hits",         "row_misses",      "row_conflicts",
                                     "read_queue_mean",  "read_queue_max",  "write_queue_mean",
                                     "write_queue_max",  "activates",       "refreshes",
                                     "power_down_share", "forwarded_reads", "energy_background_uj"};

/// Accesses `gap_ps` apart at most, now and then two at once, and one whose address is like the last one but
/// for a bit, some said a while before they arrive, when the channel may be looked at; the same for the same
/// seed.
Trace trace_of(const DramParams& params, std::uint64_t seed, std::uint64_t gap_ps) {
  DramBench bench(params, Bytes{1ULL << 30U}, row_kinds());
  Trace trace;
  bench.watch(&trace.commands);
  RandomStream random(seed, "dram", "alone");
  Time now;
  std::uint64_t line = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!random.chance(0.1)) now += Time{static_cast<std::int64_t>(random.below(gap_ps))};
    const Time lead{static_cast<std::int64_t>(random.chance(0.5) ? random.below(150'000) : 0)};
    const Time said = std::max(bench.now(), now - lead);
    bench.run(said);
    line = random.chance(0.2) ? line ^ (1U << random.below(20)) : random.below(1U << 20U);
    bench.access({line * 64, random.chance(0.4), 64}, now);
    if (!random.chance(0.3)) continue;
    bench.run(said + Time{(now - said).ps() / 2});
    bench.close_window(bench.now());
  }
  bench.run();
  bench.close_window(bench.now());  // what is still queued then does not go out
  trace.done = bench.done_at;
  for (const char* const name : kMeasures) trace.measured.push_back(bench.measure(name));
  return trace;
}

TEST(DramAlone, SendsTheCommandsOfTheScheduler) {
  RandomStream random(1, "dram", "alone");
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const auto presets = dram_presets();
    const DramDevice& device = presets[random.below(presets.size())];
    DramParams params = DramBench::preset(std::string(device.name));
    params.ranks = 1U << random.below(2);
    const bool stacks = device.standard == DramStandard::kDdr4 || device.standard == DramStandard::kDdr5;
    if (stacks && random.chance(0.4)) params.stack = 2U << random.below(2);
    const char* const schedulers[] = {"fr-fcfs", "fr-fcfs", "fcfs", "bliss"};
    params.scheduler.kind = schedulers[random.below(4)];
    const char* const policies[] = {"open", "open", "closed", "adaptive"};
    params.row_policy.kind = policies[random.below(4)];
    params.posted_writes = random.chance(0.7);
    params.write_queue = static_cast<std::uint32_t>(1 + random.below(4));
    params.read_queue = static_cast<std::uint32_t>(1 + random.below(4));
    params.refresh_postpone = static_cast<std::uint32_t>(random.below(3));
    if (random.chance(0.5)) params.power_down = Time{static_cast<std::int64_t>(random.below(200'000))};
    const std::uint64_t gap_ps = 20'000U << random.below(5);
    DramParams scheduled = params;
    scheduled.row_policy.kind = "scheduled-" + params.row_policy.kind;
    const Trace alone = trace_of(params, seed, gap_ps);
    const Trace expected = trace_of(scheduled, seed, gap_ps);
    ASSERT_EQ(alone.commands.of, expected.commands.of) << params.preset << ", seed " << seed;
    ASSERT_EQ(alone.done, expected.done) << params.preset << ", seed " << seed;
    ASSERT_EQ(alone.measured, expected.measured) << params.preset << ", seed " << seed;
  }
}

}  // namespace
}  // namespace cxloom

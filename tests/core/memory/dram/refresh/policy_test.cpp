// Refresh policies: what they may decide, seen in the commands that go out, and what is refused of them.
#include "memory/dram/refresh/policy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/schema.hpp"
#include "core/support/dram_bench.hpp"
#include "core/support/dram_checker.hpp"
#include "core/support/errors.hpp"
#include "memory/media/registry.hpp"

namespace cxloom::test {
namespace {

/// Same-bank refreshes whose sets go from the last to the first, each put off while no more than `patience`
/// are owed.
class Backwards final : public DramRefreshPolicy {
 public:
  struct Params {
    std::uint32_t patience = 0;
    std::uint32_t set = 1000;
    double rate = 1;

    static void describe(Schema<Params>& schema) {
      schema.field("patience", &Params::patience);
      schema.field("set", &Params::set).doc("Chosen all the time.");
      schema.field("rate", &Params::rate).doc("Refreshes for each usual one.");
    }
  };
  Backwards(const Params& params, const DramRefreshContext& context)
      : params_(params),
        interval_(static_cast<Clock>(static_cast<double>(context.device.timing.tREFI_SB) / params.rate)) {}

  DramRefreshScope scope() const override { return DramRefreshScope::kSet; }
  Clock interval() const override { return interval_; }
  std::uint32_t next_set(std::uint32_t /*rank*/, std::span<const std::uint32_t> left) override {
    return params_.set != 1000 ? params_.set : left.back();
  }
  bool urgent(std::uint32_t /*rank*/, std::uint32_t owed) override { return owed > params_.patience; }

 private:
  Params params_;
  Clock interval_;
};

const MediaRegistry& kinds() {
  static const MediaRegistry all = [] {
    MediaRegistry registry = media_kinds();
    registry.refresh_policies.add<Backwards>("backwards");
    return registry;
  }();
  return all;
}

DramParams with(const KindSpec& refresh, const std::string& preset = "DDR5-4800") {
  DramParams params = DramBench::preset(preset);
  params.refresh = refresh;
  return params;
}

/// The sets of the same-bank refreshes of rank 0 in sub-channel 0.
struct Sets final : DramCommandLog {
  std::vector<std::uint32_t> seen;

  void command(std::uint32_t sub_channel, const DramCommandRecord& record) override {
    if (sub_channel == 0 && record.rank == 0 && record.command == DramCommand::kRefreshSame)
      seen.push_back(record.bank);
  }
};

TEST(DramRefreshPolicy, ChoosesTheSetAmongThoseThatAreLeftInTheRound) {
  for (const auto& [refresh, order] : {std::pair{"same-bank", std::vector<std::uint32_t>{0, 1, 2, 3}},
                                       std::pair{"backwards", std::vector<std::uint32_t>{3, 2, 1, 0}}}) {
    DramBench bench(with({refresh, {}}), Bytes{1ULL << 30U}, kinds());
    Sets sets;
    bench.watch(&sets);
    bench.closed_loop(DramPattern("rand_r", 1ULL << 28U), 20'000, 32);
    ASSERT_GT(sets.seen.size(), 12U);
    for (std::size_t i = 0; i < sets.seen.size(); ++i) EXPECT_EQ(sets.seen[i], order[i % 4]) << i;
  }
}

TEST(DramRefreshPolicy, ChoosesWithinTheConstraints) {
  for (const char* const preset : {"DDR5-4800", "LPDDR5-6400", "HBM2-2000"}) {
    DramParams params = with({"backwards", Value(Value::Map{{"patience", std::int64_t{3}}})}, preset);
    params.ranks = 2;
    DramBench bench(params, Bytes{1ULL << 30U}, kinds());
    DramConfig config = bench.config();
    config.refresh_scope = DramRefreshScope::kSet;
    config.refresh_postpone = 3;
    DramCheckers checkers(config);
    bench.watch(&checkers);
    bench.closed_loop(DramPattern("rand_mix21", 1ULL << 28U), 5'000, 32);
    EXPECT_EQ(checkers.report(), "") << preset;
  }
}

// What the policy puts off is put off as by `refresh_postpone`.
TEST(DramRefreshPolicy, PutsRefreshesOff) {
  const auto run = [](std::uint32_t postpone, std::uint32_t patience) {
    DramParams params = with({"backwards", Value(Value::Map{{"patience", std::int64_t{patience}}})});
    params.refresh_postpone = postpone;
    DramBench bench(params, Bytes{1ULL << 30U}, kinds());
    const DramRun done = bench.closed_loop(DramPattern("rand_r", 1ULL << 28U), 20'000, 64);
    return std::pair(done.end_ns, done.read_ns);
  };
  EXPECT_EQ(run(0, 4), run(4, 0));
  EXPECT_NE(run(0, 4), run(0, 0));
}

TEST(DramRefreshPolicy, ThatIsUsualIsThatOfTheDevice) {
  const auto run = [](const char* refresh, const std::string& preset) {
    DramBench bench(with({refresh, {}}, preset));
    const DramRun done = bench.closed_loop(DramPattern("rand_r", 1ULL << 28U), 20'000, 64);
    return std::pair(done.end_ns, done.read_ns);
  };
  EXPECT_EQ(run("usual", "DDR4-3200"), run("all-bank", "DDR4-3200"));
  EXPECT_EQ(run("usual", "DDR5-4800"), run("same-bank", "DDR5-4800"));
  EXPECT_EQ(run("usual", "LPDDR5-6400"), run("same-bank", "LPDDR5-6400"));
  EXPECT_EQ(run("usual", "HBM2-2000"), run("all-bank", "HBM2-2000"));
  EXPECT_NE(run("usual", "DDR5-4800"), run("all-bank", "DDR5-4800"));
}

TEST(DramRefreshPolicy, ThatChoosesWhatIsNotLeftIsSaid) {
  // Set 2 is left once a round.
  DramBench bench(with({"backwards", Value(Value::Map{{"set", std::int64_t{2}}})}), Bytes{1ULL << 30U},
                  kinds());
  try {
    bench.closed_loop(DramPattern("rand_r", 1ULL << 28U), 20'000, 32);
    ADD_FAILURE() << "nothing thrown";
  } catch (const InternalError& error) {
    EXPECT_NE(
        std::string(error.what()).find("the refresh policy chose set 2 of rank 0, which is none of the 3"),
        std::string::npos)
        << error.what();
  }
}

TEST(DramRefreshPolicy, IsRefusedWhereTheDeviceCannotFollow) {
  const auto refused = [](const KindSpec& refresh, const char* preset) {
    return input_error([&] { const DramBench bench(with(refresh, preset), Bytes{1ULL << 30U}, kinds()); });
  };
  const InputError none = refused({"same-bank", {}}, "DDR4-2400");
  EXPECT_EQ(none.path(), "refresh");
  EXPECT_NE(std::string(none.what()).find("has no same-bank refresh"), std::string::npos);
  const InputError fast = refused({"backwards", Value(Value::Map{{"rate", 1000.0}})}, "DDR5-4800");
  EXPECT_EQ(fast.path(), "refresh");
  EXPECT_NE(std::string(fast.what()).find("'backwards' comes again before a refresh is over"),
            std::string::npos);
  const InputError unknown = refused({"same-bnak", {}}, "DDR5-4800");
  EXPECT_EQ(unknown.path(), "refresh.kind");
  EXPECT_EQ(unknown.detail().suggestion, "same-bank");
}

}  // namespace
}  // namespace cxloom::test

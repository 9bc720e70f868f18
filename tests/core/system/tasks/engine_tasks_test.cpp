// Copies of tasks by a DMA engine: which pieces of memory it is given, when, and what becomes of those
// behind.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "component/transfer_engine.hpp"
#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "device/context/context.hpp"
#include "kernel/kernel.hpp"
#include "results/collector.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom::test {
namespace {

/// What the engines of a system were given.
struct Given {
  std::vector<Transfer::Extent> pieces;
  std::vector<Transfer::Way> ways;
  bool loses = false;  // the first transfer
};

struct MockParams {
  static void describe(Schema<MockParams>& schema) { schema.doc("An engine that takes its time."); }
  static void estimate(const MockParams& /*params*/, MemoryEstimate& /*memory*/) {}
};

/// Launches in 1 us, and moves a byte in 10 ps. Its two streams do not know of each other.
class MockEngine final : public Component, public TransferEngine {
 public:
  MockEngine(const DeviceContext& context, Given& given)
      : Component(context), source_(context.kernel.new_source()), given_(given) {
    context.system_context.roles.declare<TransferEngine>(*this, id(), *this);
  }
  std::uint32_t streams() const override { return 2; }
  Bytes memory() const override { return Bytes{8U << 20U}; }
  std::uint64_t transfers() const override { return under_way_[0].size() + under_way_[1].size(); }
  void begin(std::uint32_t stream, Transfer::Way way, Transfer& transfer) override {
    given_.ways.push_back(way);
    under_way_[stream].push_back(&transfer);
    if (under_way_[stream].size() == 1) launch(stream);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t stream) override {
    Transfer& transfer = *under_way_[stream].front();
    if (const auto piece = transfer.next()) {
      given_.pieces.push_back(*piece);
      const Time takes{static_cast<std::int64_t>(piece->size.count()) * 10};
      return kernel().schedule(now() + takes, source_, *this, 0, stream);
    }
    under_way_[stream].pop_front();
    if (!under_way_[stream].empty()) launch(static_cast<std::uint32_t>(stream));
    if (std::exchange(given_.loses, false)) transfer.failed(now());
    else transfer.done(now());
  }

 private:
  void launch(std::uint32_t stream) { kernel().schedule(now() + Time{1'000'000}, source_, *this, 0, stream); }

  EventSource source_;
  Given& given_;
  std::deque<Transfer*> under_way_[2];
};

Value copy(const char* name, const char* from, const char* to, const char* bytes, std::int64_t stream = 0) {
  return map(
      {{"name", name}, {"kind", "copy"}, {"from", from}, {"to", to}, {"bytes", bytes}, {"stream", stream}});
}

class EngineTasks : public ::testing::Test {
 protected:
  EngineTasks() {
    registry_.devices.add_factory<MockParams>("mock", [this](const MockParams&, DeviceContext& context) {
      return std::make_unique<MockEngine>(context, given_);
    });
  }
  /// A device with an engine beside two memories of 8 MiB.
  void play(Value::List graph, const char* window = nullptr) {
    const auto object = [](const char* name, Value addresses) {
      return map({{"name", name}, {"size", "8MiB"}, {"addresses", std::move(addresses)}});
    };
    const auto memory = [] { return map({{"kind", "memory"}, {"capacity", "8MiB"}}); };
    const auto link = [](const char* device) { return map({{"between", Value::List{device, "sw"}}}); };
    const Value both = map({{"kind", "interleave"}, {"nodes", Value::List{"near", "far"}}});
    Value::Map tasks{{"objects", Value::List{object("mixed", both)}}, {"graph", std::move(graph)}};
    if (window) tasks.emplace_back("window", window);
    else tasks.emplace_back("exact", true);
    const Value spec = map(
        {{"devices", map({{"gpu", map({{"kind", "mock"}})},
                          {"sw", map({{"kind", "switch"}})},
                          {"near", memory()},
                          {"far", memory()}})},
         {"links", Value::List{link("gpu"), link("near"), link("far")}},
         {"address_map", Value::List{map({{"to", Value::List{"near"}}}), map({{"to", Value::List{"far"}}})}},
         {"tasks", std::move(tasks)}});
    simulation_ =
        std::make_unique<Simulation>(registry_, Spec::read(spec, registry_), TraceOpener{}, collector_);
    while (!simulation_->advance(Time::max(), 1'000'000)) {
    }
  }
  const TaskPlayer::Record& record(std::size_t number) const {
    return simulation_->tasks()->records()[number];
  }

  Registry registry_ = builtin_registry();
  Collector collector_{false};
  Given given_;
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(EngineTasks, PiecesFollowTheObjectThroughItsMemories) {
  play({copy("c", "mixed", "gpu", "16KiB")});
  ASSERT_EQ(given_.pieces.size(), 4U);
  // Pages in turn: each memory holds 8 MiB, one behind the other.
  const std::vector<std::uint64_t> bases{0, 8U << 20U, 4096, (8U << 20U) + 4096};
  for (std::size_t i = 0; i < bases.size(); ++i) {
    EXPECT_EQ(given_.pieces[i].at, Address{bases[i]});
    EXPECT_EQ(given_.pieces[i].size, Bytes{4096});
  }
  EXPECT_EQ(given_.ways, std::vector{Transfer::Way::kIn});
  EXPECT_EQ(record(0).end, Time{1'000'000 + 16 * 1024 * 10});
}

TEST_F(EngineTasks, AStreamDoesOneAfterTheOtherAndTwoStreamsDoBoth) {
  play({copy("a", "mixed", "gpu", "4KiB"), copy("b", "gpu", "mixed", "4KiB"),
        copy("c", "mixed", "gpu", "4KiB", 1)});
  const Time each{1'000'000 + 40'960};
  EXPECT_EQ(record(0).end, each);
  EXPECT_EQ(record(1).start, each);
  EXPECT_EQ(record(1).waited_for, 0U);
  EXPECT_EQ(record(1).end, each * 2);
  EXPECT_EQ(record(2).end, each);
  EXPECT_EQ(given_.ways, (std::vector{Transfer::Way::kIn, Transfer::Way::kIn, Transfer::Way::kOut}));
}

// Pieces of 64 lines arrive at once, so that a window of 0.5 % has some 200 of the 2048 pieces of 8 MiB: a
// part of the copy is passed over, and the time is what it was.
TEST_F(EngineTasks, ALongCopyIsTakenOnAtTheRateOfAWindow) {
  play({copy("c", "mixed", "gpu", "8MiB")}, "1us");
  EXPECT_LT(given_.pieces.size(), 1500U);
  EXPECT_GT(simulation_->tasks()->skipped(), Time{});
  const Time whole{1'000'000 + (8 << 20) * 10};
  const double apart = static_cast<double>((record(0).end - whole).ps());
  EXPECT_LT(std::abs(apart), 0.01 * static_cast<double>(whole.ps()));
  EXPECT_LE(std::abs(apart), simulation_->tasks()->sampler().error_ps());
}

TEST_F(EngineTasks, ACopyWhoseBytesAreLostHasFailedAndLetsOthersStart) {
  given_.loses = true;
  play({copy("a", "mixed", "gpu", "4KiB"), copy("b", "mixed", "gpu", "4KiB")});
  EXPECT_TRUE(record(0).failed);
  EXPECT_FALSE(record(1).failed);
  EXPECT_TRUE(record(1).over());
}

TEST_F(EngineTasks, WhatAnEngineCannotDoIsRefused) {
  const auto said = [&](Value task) {
    return std::string(input_error([&] { play({std::move(task)}); }).what());
  };
  EXPECT_TRUE(contains(said(copy("c", "mixed", "gpu", "4KiB", 2)), "has no such stream"));
  EXPECT_TRUE(contains(said(copy("c", "gpu", "gpu", "4KiB")), "from a device to a device"));
  EXPECT_TRUE(contains(said(copy("c", "mixed", "near", "4KiB")), "'near' has no DMA engine"));
}

}  // namespace
}  // namespace cxloom::test

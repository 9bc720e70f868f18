// Schedulers that hold accesses back: the direction of which one picks nothing does not keep the other from
// going.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/dram_bench.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;

/// In a bank the oldest goes first, if its kind goes at all.
class HoldsBack : public DramScheduler {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Holds accesses back."); }
  };
  explicit HoldsBack(const DramSchedulerContext& context) : queue_(context.queue) {}
  DramPick pick(DramQueue::Slot oldest, std::int64_t /*row*/, Clock now) override {
    return {goes(queue_.at(oldest).burst.write, now) ? oldest : DramQueue::kNone};
  }

 protected:
  virtual bool goes(bool write, Clock now) = 0;
  const DramQueue& queue_;
};

class NoWrites final : public HoldsBack {
 public:
  NoWrites(const Params& /*params*/, const DramSchedulerContext& context) : HoldsBack(context) {}
  bool goes(bool write, Clock /*now*/) override { return !write; }
};

class NoReads final : public HoldsBack {
 public:
  NoReads(const Params& /*params*/, const DramSchedulerContext& context) : HoldsBack(context) {}
  bool goes(bool write, Clock /*now*/) override { return write; }
};

/// Writes go once there are eight, until none is left.
class Gathers final : public HoldsBack {
 public:
  Gathers(const Params& /*params*/, const DramSchedulerContext& context) : HoldsBack(context) {}
  std::uint32_t arrived(DramQueue::Slot /*slot*/, Clock /*now*/) override { return kEveryBank; }
  std::uint32_t served(DramQueue::Slot /*slot*/, Clock /*now*/) override {
    if (queue_.count(true) <= 1) open_ = false;
    return kEveryBank;
  }
  bool goes(bool write, Clock /*now*/) override {
    open_ = open_ || queue_.count(true) >= 8;
    return !write || open_;
  }

 private:
  bool open_ = false;
};

/// Changes its mind about either kind at random: when it is due, and with what arrives and is served.
class Moody final : public HoldsBack {
 public:
  Moody(const Params& /*params*/, const DramSchedulerContext& context) : HoldsBack(context) { set_due(1); }
  std::uint32_t arrived(DramQueue::Slot /*slot*/, Clock /*now*/) override { return change(); }
  std::uint32_t served(DramQueue::Slot /*slot*/, Clock /*now*/) override { return change(); }
  std::uint32_t wake(Clock now) override {
    set_due(now + 1 + static_cast<Clock>(random_.below(300)));
    return change();
  }
  bool goes(bool write, Clock /*now*/) override { return goes_[write]; }

 private:
  std::uint32_t change() {
    for (bool& goes : goes_) goes = random_.chance(0.5);
    return kEveryBank;
  }

  RandomStream random_{1, "dram", "mood"};
  bool goes_[2] = {};
};

const MediaRegistry& kinds_that_hold_back() {
  static const MediaRegistry kinds = [] {
    MediaRegistry registry("media");
    register_schedulers(registry.schedulers);
    register_row_policies(registry.row_policies);
    register_refresh_policies(registry.refresh_policies);
    registry.schedulers.add<NoWrites>("no-writes");
    registry.schedulers.add<NoReads>("no-reads");
    registry.schedulers.add<Gathers>("gathers");
    registry.schedulers.add<Moody>("moody");
    return registry;
  }();
  return kinds;
}

DramParams held_by(const char* scheduler, bool posted, const char* preset = "DDR4-3200") {
  DramParams params = DramBench::preset(preset);
  params.scheduler.kind = scheduler;
  params.posted_writes = posted;
  return params;
}

/// How many of 40 accesses of a probe are answered within 10 us each, where 200 of the other direction wait
/// all the time.
int answered_beside(const DramParams& params, bool probe_writes) {
  DramBench bench(params, Bytes{1ULL << 30U}, kinds_that_hold_back());
  RandomStream random(1, "dram", "probe");
  const auto access = [&](bool write, NodeId requester) {
    return bench.access({random.below(1U << 24U) * 64, write, 64, requester}, bench.now());
  };
  for (int i = 0; i < 200; ++i) access(!probe_writes, NodeId{0});
  int answered = 0;
  Time now;
  for (int i = 0; i < 40; ++i) {
    const std::size_t number = access(probe_writes, NodeId{1});
    now += Time{10'000'000};
    bench.run(now);
    answered += bench.done_at[number] >= Time{};
  }
  return answered;
}

// The queue is full of what never goes.
TEST(DramHeldBack, WhatIsPickedGoesOnBesideWhatIsNot) {
  for (const bool posted : {true, false}) {
    EXPECT_EQ(answered_beside(held_by("no-writes", posted), false), 40) << posted;
    EXPECT_EQ(answered_beside(held_by("no-reads", posted), true), 40) << posted;
  }
}

// Nothing is done before it is foreseen and nothing is forgotten, whatever the scheduler holds back and for
// how long.
TEST(DramHeldBack, EverythingIsDoneWhereHoldingBackEnds) {
  for (const char* const preset : {"DDR4-3200", "DDR5-4800", "LPDDR5-6400"}) {
    for (const bool posted : {true, false}) {
      for (const std::uint32_t queue : {2U, 64U}) {
        for (const char* const scheduler : {"moody", "gathers"}) {
          DramParams params = held_by(scheduler, posted, preset);
          params.read_queue = params.write_queue = queue;
          if (scheduler[0] == 'g' && (queue < 8 || !posted)) continue;  // never eight, or the last ones
          DramBench bench(params, Bytes{1ULL << 30U}, kinds_that_hold_back());
          RandomStream random(1, "dram", "mix");
          const auto mix = [&] { return DramAccess{random.below(1U << 24U) * 64, random.chance(0.4)}; };
          bench.loop(mix, 2000, 24);
          std::uint64_t done = 0;
          for (const Time at : bench.done_at) done += at >= Time{};
          EXPECT_EQ(done, 2000U) << preset << ' ' << scheduler << ' ' << posted << ' ' << queue;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cxloom

// Whatever is read, written, moved and erased at the same time: a read finds what was written last.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/media_bench.hpp"
#include "memory/flash/media.hpp"

namespace cxloom {
namespace {

using namespace literals;
using FlashBench = test::MediaBench<FlashMedia>;

constexpr std::uint64_t kSmallPage = 512;

/// Follows the data by what the dies do alone. The writes of a page have numbers; what a page of flash holds
/// is known up to the writes that were on their way when it was programmed.
class WrittenPages final : public FlashObserver {
 public:
  explicit WrittenPages(FlashBench& bench) : bench_(bench), geometry_(bench.media().geometry()) {
    const std::uint32_t pages = geometry_.blocks * geometry_.pages;
    held_.assign(geometry_.all_planes(), std::vector<Held>(pages));
    for (std::uint64_t page = 0; page < geometry_.logical_pages(); ++page)
      held_[geometry_.plane_of(page)][geometry_.within(page)] = {page, 0, true};
    bench.media().observe(this);
  }

  void write(std::uint64_t page, Time at) {
    const Message& message = bench_.access(page * kSmallPage, at, Opcode::kMemWr, kSmallPage);
    writes_[page].push_back(&message);
  }
  /// Unless a read of that page is still on its way.
  void read(std::uint64_t page, Time at) {
    Read& read = reads_[page];
    if (read.message && !bench_.done.contains(read.message)) return;
    read = {&bench_.access(page * kSmallPage, at, Opcode::kMemRd, kSmallPage), acknowledged(page)};
  }

  void read(std::uint32_t plane, std::uint32_t physical, const FlashJob* job) override {
    const Held& held = held_[plane][physical];
    EXPECT_TRUE(held.programmed) << "a page that was erased is read";
    if (!job || job->writes) return;
    ++found;
    const std::uint64_t page = bench_.media().page_of(*job);
    EXPECT_EQ(held.page, page) << "the page of somebody else";
    EXPECT_GE(held.latest, reads_[page].least) << "data that were overwritten";
  }
  void programs(std::uint32_t plane, std::uint32_t physical, const FlashJob* job,
                std::uint32_t from) override {
    Held& held = held_[plane][physical];
    EXPECT_FALSE(held.programmed) << "programmed twice without an erase";
    moved += job == nullptr;
    if (job) {
      const std::uint64_t page = bench_.media().page_of(*job);
      held = {page, writes_[page].size(), true};
    } else {
      held = held_[plane][from];
    }
  }
  void erased(std::uint32_t plane, std::uint32_t block) override {
    for (std::uint32_t i = 0; i < geometry_.pages; ++i) held_[plane][block * geometry_.pages + i] = {};
  }

  std::uint64_t found = 0;
  std::uint64_t moved = 0;

 private:
  struct Held {
    std::uint64_t page = 0;
    std::size_t latest = 0;  // writes of it that had been asked for
    bool programmed = false;
  };
  struct Read {
    const Message* message = nullptr;
    std::size_t least = 0;  // writes of the page that were done when it was asked for
  };

  std::size_t acknowledged(std::uint64_t page) {
    const auto& all = writes_[page];
    std::size_t count = all.size();
    while (count > 0 && !bench_.done.contains(all[count - 1])) --count;
    return count;
  }

  FlashBench& bench_;
  const FlashGeometry& geometry_;
  std::vector<std::vector<Held>> held_;
  std::map<std::uint64_t, std::vector<const Message*>> writes_;
  std::map<std::uint64_t, Read> reads_;
};

TEST(FlashContents, AReadFindsWhatWasWrittenLast) {
  RandomStream random(11, "test", "contents");
  std::uint64_t moved = 0;
  for (const auto work : {FlashPlaneWork::kOne, FlashPlaneWork::kTogether, FlashPlaneWork::kIndependent}) {
    for (const char* kind : {"greedy", "cost-benefit", "fifo"}) {
      for (int round = 0; round < 4; ++round) {
        FlashParams params;
        params.channels = static_cast<std::uint32_t>(1 + random.below(2));
        params.dies = static_cast<std::uint32_t>(1 + random.below(2));
        params.planes = static_cast<std::uint32_t>(1 + random.below(3));
        params.blocks = static_cast<std::uint32_t>(8 + random.below(4));
        params.pages = static_cast<std::uint32_t>(2 + random.below(6));
        params.page = params.sector = Bytes{kSmallPage};
        params.plane_work = work;
        params.collection = {kind, Value(Value::Map{})};
        params.over_provisioning = 0.5;
        params.read_time = 3_us;
        params.program_time = 20_us;
        params.erase_time = 100_us;
        params.write_buffer = static_cast<std::uint32_t>(random.below(6));
        params.hold = params.write_buffer / 2;
        params.wear_levelling = static_cast<FlashWearLevelling>(random.below(3));
        params.wear_gap = 2;
        FlashBench bench(params, Bytes{kSmallPage});
        WrittenPages contents(bench);
        const std::uint64_t pages = bench.media().geometry().logical_pages();
        Time at;
        for (int i = 0; i < 1500; ++i) {
          const std::uint64_t page = random.below(random.below(2) == 0 ? pages : pages / 5 + 1);
          random.below(3) == 0 ? contents.read(page, at) : contents.write(page, at);
          at = at + Time{static_cast<std::int64_t>(random.below(20'000'000))};
          bench.run(at);
        }
        bench.run();
        EXPECT_EQ(bench.done.size(), bench.given) << "an access was lost";
        EXPECT_GT(contents.found, 100U);
        moved += contents.moved;
        if (HasFailure()) FAIL() << kind << ", round " << round;
      }
    }
  }
  EXPECT_GT(moved, 1000U);
}

}  // namespace
}  // namespace cxloom

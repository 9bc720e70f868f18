#include "memory/fixed/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/media_kinds.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::kAllEvents;
using test::Messages;
using test::Probe;

/// The media behind a controller that only writes down when each access is done.
class FixedBench final : public MediaClient {
 public:
  explicit FixedBench(const FixedMediaParams& params)
      : media_(params, MediaContext{kernel_, owner_, *this, test::media_kinds(), test::victims(),
                                    Bytes{1ULL << 30U}, 1}) {}
  void media_done(Message& message, Time at) override {
    EXPECT_GE(at, kernel_.now());
    EXPECT_GE(at, last_) << "not in the order of completion";
    last_ = at;
    done[&message] = at;
    EXPECT_EQ(message.account->mark(), at);
  }
  Message& access(std::uint64_t address, Time ready, Opcode opcode = Opcode::kMemRd) {
    Message& message = messages.tracked(opcode, ready);
    media_.access(message, Address{address}, ready);
    return message;
  }
  void run() { kernel_.run(Time::max(), kAllEvents); }

  Messages messages;
  std::map<const Message*, Time> done;

 private:
  Kernel kernel_;
  Probe owner_{kernel_, "mem"};
  FixedMedia media_;
  Time last_;
};

FixedMediaParams fixed_media() {
  FixedMediaParams params;
  params.latency = 45_ns;
  return params;
}

TEST(FixedMedia, AnswersEveryAccessAfterItsLatencyWhateverElseGoesOn) {
  FixedBench bench(fixed_media());
  for (int i = 0; i < 10; ++i) {
    const Message& message = bench.access(0, Time{i * 10});
    EXPECT_EQ(bench.done[&message], Time{i * 10} + 45_ns);
    EXPECT_EQ(Messages::segment(message, Segment::kMedia), 45_ns);
  }
}

TEST(FixedMedia, WritesHaveTheirOwnLatencyAndMayOvertake) {
  FixedMediaParams params = fixed_media();
  params.write_latency = 5_ns;
  FixedBench bench(params);
  const Message& read = bench.access(0, 0_ns);
  const Message& write = bench.access(0, 1_ns, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.done[&read], 45_ns);
  EXPECT_EQ(bench.done[&write], 6_ns);
}

TEST(FixedMedia, TheDataPathStartsNoMoreThanItsBandwidth) {
  // 64 B at 10 GB/s: 6.4 ns from start to start.
  FixedMediaParams params = fixed_media();
  params.bandwidth = 10_GBps;
  FixedBench bench(params);
  for (int i = 0; i < 100; ++i) {
    const Message& message = bench.access(0, 0_ns);
    EXPECT_EQ(bench.done[&message], Time{6400 * i} + 45_ns);
    EXPECT_EQ(Messages::segment(message, Segment::kMediaQueue), Time{6400 * i});
  }
  const Message& later = bench.access(0, 1_us);  // idle already
  EXPECT_EQ(bench.done[&later], 1_us + 45_ns);
}

TEST(FixedMedia, ABankServesOneAtATime) {
  FixedMediaParams params = fixed_media();
  params.banks = 4;
  FixedBench bench(params);
  std::vector<const Message*> same;
  for (int i = 0; i < 5; ++i) same.push_back(&bench.access(1024, 0_ns));  // bank 0: 1024 / 256 mod 4
  const Message& other = bench.access(256, 0_ns);                         // bank 1
  bench.run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.done[same[static_cast<std::size_t>(i)]], 45_ns * (i + 1));
    EXPECT_EQ(Messages::segment(*same[static_cast<std::size_t>(i)], Segment::kMediaQueue), 45_ns * i);
  }
  EXPECT_EQ(bench.done[&other], 45_ns);
}

TEST(FixedMedia, SaturatedItMovesBanksPerLatency) {
  // 8 banks, all with 100 accesses: the last ends after 100 latencies, 8 at each step.
  FixedMediaParams params = fixed_media();
  params.banks = 8;
  params.bank_interleave = 64_B;
  FixedBench bench(params);
  for (std::uint64_t i = 0; i < 800; ++i) bench.access(i * 64, 0_ns);
  bench.run();
  std::map<Time, int> ends;
  for (const auto& [message, at] : bench.done) ++ends[at];
  EXPECT_EQ(ends.size(), 100U);
  for (const auto& [at, count] : ends) EXPECT_EQ(count, 8);
  EXPECT_EQ(ends.rbegin()->first, 45_ns * 100);
}

TEST(FixedMedia, MatchesANaiveModelOfBanksUnderRandomTraffic) {
  FixedMediaParams params = fixed_media();
  params.banks = 3;
  params.write_latency = 20_ns;
  FixedBench bench(params);
  RandomStream random(1, "media", "test");
  std::map<std::uint64_t, Time> free;
  std::map<const Message*, Time> wanted;
  Time ready;
  for (int i = 0; i < 2000; ++i) {
    ready += Time{static_cast<std::int64_t>(random.below(25'000)) * 3 + 1};
    const std::uint64_t address = random.below(4096) * 64;
    const bool write = random.chance(0.4);
    const Message& message = bench.access(address, ready, write ? Opcode::kMemWr : Opcode::kMemRd);
    Time& bank = free[address / 256 % 3];
    bank = std::max(bank, ready) + (write ? 20_ns : 45_ns);
    wanted[&message] = bank;
  }
  bench.run();
  EXPECT_EQ(bench.done, wanted);
}

TEST(FixedMedia, RefusesAnInterleaveOfBanksThatItDoesNotHave) {
  const auto read = [](const Value::Map& params) { read_params<FixedMediaParams>(params); };
  EXPECT_THROW(read({{"bank_interleave", "64B"}}), InputError);
  EXPECT_NO_THROW(read({{"bank_interleave", "64B"}, {"banks", 1}}));
  EXPECT_THROW(read({{"bank_interleave", "256B"}}), InputError);  // the default, written
}

}  // namespace
}  // namespace cxloom

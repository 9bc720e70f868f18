// Copy engines: every line of the destination is written once, after its source was read, with so many lines
// in flight; and how long a descriptor takes.
#include "workload/pattern/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::refusal_of;
using test::Running;
using test::SpecBuilder;

/// A host before a memory of 100 ns and one of 300 ns behind it.
SpecBuilder near_and_far(Value::Map work, Value::Map host = {{"queue", 512}}, Value::Map bandwidth = {}) {
  host.emplace_back("process_time", "0ns");
  const auto memory = [&](const char* latency) {
    Value::Map media{{"kind", "fixed"}, {"latency", latency}};
    media.insert(media.end(), bandwidth.begin(), bandwidth.end());
    return Value::Map{{"controller_time", "0ns"}, {"capacity", "64MiB"}, {"media", media}};
  };
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("near", "memory", memory("100ns"))
      .device("far", "memory", memory("300ns"))
      .link("host", "near")
      .link("host", "far")
      .region({"near"})
      .region({"far"})
      .work("host", std::move(work));
}

Value::Map copy(std::int64_t lines, std::int64_t window, std::int64_t descriptors = 1) {
  return {{"pattern", "copy"},         {"destination", "0x4000000"},
          {"footprint", "16MiB"},      {"size", std::to_string(lines * 64) + "B"},
          {"lines_in_flight", window}, {"requests", descriptors}};
}

double of_host(const Running& run, const char* measure) {
  return run.number({"per_requester", "host", measure});
}

// A buffer has a line for R + W = 400 ns, and w buffers begin at once: a descriptor takes its setup and
// ceil(n / w) of these.
TEST(Copy, OneDescriptorTakesTurnsOfItsBuffers) {
  for (const std::int64_t lines : {1, 2, 95, 96, 97, 1000}) {
    for (const std::int64_t window : {1, 7, 96, 512}) {
      for (const char* setup : {"0ns", "250ns"}) {
        Value::Map work = copy(lines, window, 3);
        work.emplace_back("setup", setup);
        Running run(near_and_far(std::move(work)));
        run.to_end();
        const std::string which = std::to_string(lines) + " of " + std::to_string(window) + ", " + setup;
        const double one =
            (setup[0] == '2' ? 250.0 : 0.0) + 400.0 * static_cast<double>((lines + window - 1) / window);
        EXPECT_EQ(of_host(run, "large_accesses"), 3.0) << which;
        EXPECT_EQ(of_host(run, "large_access_ns"), one) << which;
        EXPECT_EQ(run.completed(run.table().rows() - 1), Time{std::llround(3 * one * 1000)}) << which;
        EXPECT_EQ(run.number({"requests"}), 6.0 * static_cast<double>(lines));
        EXPECT_EQ(run.number({"per_memory", "near", "reads"}), 3.0 * static_cast<double>(lines));
        EXPECT_EQ(run.number({"per_memory", "far", "writes"}), 3.0 * static_cast<double>(lines));
      }
    }
  }
}

// It writes only, so that a buffer has a line for W.
TEST(Copy, AFillTakesTheTimeOfItsWrites) {
  for (const std::int64_t lines : {1, 96, 97, 1000}) {
    Running run(near_and_far({{"pattern", "fill"},
                              {"destination", "0x4000000"},
                              {"footprint", "16MiB"},
                              {"size", std::to_string(lines * 64) + "B"},
                              {"requests", 2}}));
    run.to_end();
    const double one = 300.0 * static_cast<double>((lines + 95) / 96);
    EXPECT_EQ(of_host(run, "large_access_ns"), one) << lines;
    EXPECT_EQ(run.number({"per_memory", "far", "writes"}), 2.0 * static_cast<double>(lines));
    EXPECT_EQ(run.number({"requests"}), 2.0 * static_cast<double>(lines));
  }
}

// Several descriptors at a time leave no buffer empty at the end of one: d of n lines take
// ceil(d n / w) (R + W), which is w lines each R + W.
TEST(Copy, SeveralDescriptorsAtATimeFillTheWindow) {
  for (const std::int64_t at_a_time : {2, 3, 8}) {
    Value::Map work = copy(100, 96, 24);
    work.emplace_back("descriptors", at_a_time);
    Running run(near_and_far(std::move(work)));
    run.to_end();
    EXPECT_EQ(run.number({"simulated_time_ns"}), 400.0 * 25) << at_a_time;
  }
}

// Submissions follow each other: with `setup` s and enough places, one descriptor each max(s, T), where T is
// the time of the copy; with d places it is max(s, (s + T) / d).
TEST(Copy, SubmissionsFollowEachOther) {
  const auto time = [](const char* setup, std::int64_t places) {
    Value::Map work = copy(96, 384, 40);
    work.emplace_back("setup", setup);
    work.emplace_back("descriptors", places);
    Running run(near_and_far(std::move(work)));
    run.to_end();
    return run.number({"simulated_time_ns"});
  };
  // From the first request, which is made when the first submission is over.
  EXPECT_EQ(time("1us", 1), 40 * 1400.0 - 1000.0);
  EXPECT_EQ(time("1us", 2), 39 * 1000.0 + 400.0);
  EXPECT_EQ(time("100ns", 2), 20 * 500.0 + 100.0 - 100.0);
  EXPECT_EQ(time("100ns", 64), 39 * 100.0 + 400.0);
}

// A memory that moves a line in 4 ns is the limit of a copy within it: a read and a write each line.
TEST(Copy, IsBoundByItsMemory) {
  const auto gb_per_s = [](std::int64_t window) {
    Value::Map work = copy(512, window, 20);
    work[1] = {"destination", "0x1000000"};
    work.emplace_back("descriptors", 2);
    Running run(near_and_far(std::move(work), {{"queue", 512}}, {{"bandwidth", "16GB/s"}}));
    run.to_end();
    return 512.0 * 20 * 64 / run.number({"simulated_time_ns"});
  };
  EXPECT_NEAR(gb_per_s(4), 4 * 64.0 / 200, 4 * 64.0 / 200 * 0.05);  // its buffers: w 64 B / (R + W)
  EXPECT_NEAR(gb_per_s(256), 8.0, 8.0 * 0.02);                      // its memory: 16 GB/s / 2
  EXPECT_LE(gb_per_s(256), 8.0);
}

// Two engines that share a memory have half of it each.
TEST(Copy, TwoEnginesShareEvenly) {
  SpecBuilder system;
  system.device("bus", "bus")
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "64MiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}, {"bandwidth", "16GB/s"}}}});
  system.link("bus", "mem").region({"mem"});
  for (const char* host : {"a", "b"}) {
    system.device(host, "host", {{"queue", 128}}).link(host, "bus");
    Value::Map work = copy(64, 96, 100);
    work[1] = {"destination", host[0] == 'a' ? "0x1000000" : "0x3000000"};
    work.emplace_back("source", host[0] == 'a' ? "0x0" : "0x2000000");
    work.emplace_back("descriptors", 4);
    system.work(host, std::move(work));
  }
  Running run(system.run_with({{"warmup", 2000}}));
  run.to_end();
  const double a = run.number({"per_requester", "a", "requests"});
  const double b = run.number({"per_requester", "b", "requests"});
  EXPECT_NEAR(a, b, 2.0 * 96);  // what may be in flight of the one and not of the other
  EXPECT_GT(a, 12000.0);
}

/// What an engine gives, answered in any order: the destination as it is after that.
struct Played {
  std::map<std::uint64_t, std::uint64_t> written;  // the source of each line, by its address
  std::uint64_t most = 0;                          // accesses on their way
  std::uint64_t bytes = 0;
};

// The rules, without a system: a line is written with what was read for it, once; no more lines than the
// window are on their way.
Played play(CopyEngine& engine, std::uint64_t to_destination, std::uint32_t seed) {
  std::mt19937 random(seed);
  Played played;
  std::map<std::uint64_t, Access> on_their_way;
  std::vector<std::uint64_t> data;  // lines of the source that were read and not written
  std::uint64_t number = 0;
  Time now;
  while (true) {
    engine.at(now);
    for (Access access; engine.next(access); engine.at(now)) {
      if (access.kind == AccessKind::kWrite) {
        const auto source = std::ranges::find(data, access.address.value() - to_destination);
        EXPECT_NE(source, data.end()) << "written before it was read, or twice";
        EXPECT_TRUE(played.written.emplace(access.address.value(), *source).second);
        data.erase(source);
        played.bytes += access.size;
      }
      on_their_way.emplace(number++, access);
    }
    played.most = std::max<std::uint64_t>(played.most, on_their_way.size());
    if (on_their_way.empty()) break;
    now += 1_ns;
    auto answered = on_their_way.begin();
    std::advance(answered, random() % on_their_way.size());
    if (answered->second.kind == AccessKind::kRead) data.push_back(answered->second.address.value());
    Request request;
    engine.answered(answered->first, request, now);
    on_their_way.erase(answered);
  }
  EXPECT_TRUE(data.empty());
  EXPECT_FALSE(engine.open());
  return played;
}

TEST(Copy, EveryLineIsWrittenOnceAfterItWasReadInAnyOrderOfAnswers) {
  std::mt19937 random(7);
  for (std::uint32_t round = 0; round < 300; ++round) {
    CopyParams params;
    params.size = Bytes{1 + random() % 3000};
    const std::uint64_t lines = (params.size.count() + 63) / 64;
    const std::uint64_t blocks = 1 + random() % 8;
    params.footprint = Bytes{blocks * lines * 64 + random() % (lines * 64)};
    params.source = Address{64 * (random() % 100)};
    const std::uint64_t apart = 64 * (params.footprint.count() / 64 + 1 + random() % 100);
    params.destination = Address{params.source.value() + apart};
    params.lines_in_flight = 1 + static_cast<std::uint32_t>(random() % 40);
    params.descriptors = 1 + static_cast<std::uint32_t>(random() % 5);
    PatternContext context{1, "host"};
    context.accesses = blocks;  // once through the footprint
    CopyEngine engine(params, context);
    const Played played = play(engine, apart, round);
    EXPECT_EQ(played.written.size(), blocks * lines) << round;
    EXPECT_EQ(played.written.begin()->first, params.destination->value());
    EXPECT_EQ(played.written.rbegin()->first, params.destination->value() + (blocks * lines - 1) * 64);
    EXPECT_EQ(played.bytes, blocks * params.size.count());
    EXPECT_LE(played.most, *params.lines_in_flight);
  }
}

// The same in whole systems, by the rows of their requests, with a warm-up and answers out of order.
TEST(Copy, EveryLineIsWrittenOnceInSystems) {
  for (const std::int64_t window : {1, 5, 64}) {
    for (const std::int64_t descriptors : {1, 3}) {
      Value::Map work = copy(33, window, 6);
      work.emplace_back("descriptors", descriptors);
      work.emplace_back("source", "0x1040");
      work[1] = {"destination", "0x3ffff80"};  // its first lines are near, the others far
      work[2] = {"footprint", std::to_string(6 * 33 * 64) + "B"};
      Running run(near_and_far(std::move(work)));
      run.to_end();
      const RequestTable& table = run.table();
      std::map<std::uint64_t, std::size_t> reads;
      std::map<std::uint64_t, std::size_t> writes;
      for (std::size_t row = 0; row < table.rows(); ++row) {
        auto& lines = table.address[row] >= 0x3ffff80 ? writes : reads;
        EXPECT_TRUE(lines.emplace(table.address[row], row).second);
      }
      ASSERT_EQ(writes.size(), 6U * 33);
      ASSERT_EQ(reads.size(), 6U * 33);
      for (const auto& [address, row] : writes)
        EXPECT_GE(run.created(row), run.completed(reads.at(address - 0x3ffff80 + 0x1040)));
    }
  }
}

// What its user counts are descriptors: with a warm-up those that were begun are brought to their end.
TEST(Copy, EndsWithWholeDescriptors) {
  for (const std::int64_t descriptors : {1, 4}) {
    Value::Map work = copy(10, 16, 5);
    work.emplace_back("descriptors", descriptors);
    Running run(near_and_far(std::move(work)).run_with({{"warmup", 100}}));
    run.to_end();
    const double reads = run.number({"per_memory", "near", "reads"});
    EXPECT_GE(run.number({"requests"}), 5.0 * 20);
    EXPECT_LE(run.number({"requests"}), (5.0 + static_cast<double>(descriptors)) * 20 + 32);
    EXPECT_GE(of_host(run, "large_accesses"), 5.0);
    EXPECT_GT(reads, 0.0);
  }
}

// Behind the count go the lines of the one descriptor that is in part begun, and the writes of those in
// flight; what is in flight when the window opens is measured as well. Others that were taken up are left
// out.
TEST(Copy, LeavesOutWhatHasNotBegunWhenTheCountIsReached) {
  for (const std::int64_t descriptors : {1, 2, 64}) {
    for (const std::int64_t window : {4, 150}) {
      Value::Map work = copy(100, window, 3);
      work.emplace_back("descriptors", descriptors);
      Running run(near_and_far(std::move(work)).run_with({{"warmup", 1}}));
      run.to_end();
      const double least = 3.0 * 200;
      const std::string which = std::to_string(descriptors) + " of " + std::to_string(window);
      EXPECT_GE(run.number({"requests"}), least) << which;
      EXPECT_LE(run.number({"requests"}), least + 2 * 99 + 2 * static_cast<double>(window)) << which;
    }
  }
}

// It gives what belongs to the lines that were begun, and is at its end after that.
TEST(Copy, BringsToItsEndWhatItHasBegun) {
  CopyParams params;
  params.size = Bytes{3 * 64};
  params.lines_in_flight = 2;
  params.descriptors = 5;
  CopyEngine engine(params, PatternContext{1, "host"});
  engine.at(Time{});
  Access access;
  ASSERT_TRUE(engine.next(access));
  engine.finish();
  engine.at(Time{});
  std::uint64_t given = 1;
  for (std::uint64_t answered = 0; answered < given; ++answered) {
    for (; engine.next(access); ++given) {
    }
    EXPECT_TRUE(engine.open() || given == 6);
    engine.answered(answered, Request{}, Time{});
    while (engine.next(access)) ++given;
  }
  EXPECT_EQ(given, 6U) << "three reads and three writes";
  EXPECT_FALSE(engine.open());
  EXPECT_EQ(engine.completed(), Time{});
}

// A footprint that ends within a line: the destination begins at the next, and no line is written twice.
TEST(Copy, BehindAnOddFootprintBeginsAtALine) {
  CopyParams params;
  params.source = Address{0x40};
  for (const std::uint64_t footprint : {99'968ULL, 99'969ULL, 100'000ULL, 100'031ULL, 100'032ULL}) {
    params.footprint = Bytes{footprint};
    EXPECT_EQ(params.to(), Address{0x40 + (footprint == 99'968 ? 99'968U : 100'032U)}) << footprint;
  }
  const auto odd = [](Value::Map more) {
    Value::Map work{{"pattern", "copy"}, {"footprint", "100000B"}, {"size", "4KiB"}, {"requests", 24}};
    work.insert(work.end(), more.begin(), more.end());
    return near_and_far(std::move(work));
  };
  Running run(odd({}));
  run.to_end();
  std::map<std::uint64_t, int> written;
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    const std::uint64_t address = run.table().address[row];
    EXPECT_EQ(address % 64, 0U);
    if (address >= 100'000) ++written[address];
  }
  EXPECT_EQ(written.size(), 24U * 64);
  EXPECT_EQ(written.begin()->first, 100'032U);
  // The last line of the source is in it whole.
  EXPECT_NE(refusal_of(odd({{"destination", "0x18680"}})).find("overlaps the source"), std::string::npos);
  EXPECT_EQ(refusal_of(odd({{"destination", "0x186c0"}})), "");
  const auto ranges = ranges_of_engine("copy", Value(Value::Map{{"footprint", "100000B"}, {"size", "4KiB"}}));
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].size, Bytes{100'032});
  EXPECT_EQ(ranges[1].base, Address{100'032});
}

// Bandwidth is of requests: a byte that is copied is read and written.
TEST(Copy, CountsEachByteTwiceInItsBandwidth) {
  Running run(near_and_far(copy(96, 96, 4)));
  run.to_end();
  EXPECT_DOUBLE_EQ(of_host(run, "bandwidth_gb_per_s"), 2 * 96.0 * 64 / 400);
}

TEST(Copy, OfRandomOrderGoesToBlocksOfTheFootprint) {
  CopyParams params;
  params.size = Bytes{256};
  params.footprint = Bytes{64 * 256};
  params.order = DescriptorOrder::kRandom;
  PatternContext context{1, "host"};
  CopyEngine engine(params, context);
  std::map<std::uint64_t, int> blocks;
  std::uint64_t number = 0;
  for (int line = 0; line < 4 * 400; ++line) {
    engine.at(Time{});
    Access access;
    ASSERT_TRUE(engine.next(access));
    if (line % 4 == 0) ++blocks[access.address.value()];
    Request request;
    engine.answered(number++, request, Time{});
    ASSERT_TRUE(engine.next(access));  // a write goes first
    ASSERT_EQ(access.kind, AccessKind::kWrite);
    engine.answered(number++, request, Time{});
  }
  EXPECT_GT(blocks.size(), 48U);
  for (const auto& [address, times] : blocks) {
    EXPECT_EQ(address % 256, 0U);
    EXPECT_LT(address, 64U * 256);
  }
}

// A line whose data did not come is not written, and its buffer serves another.
TEST(Copy, DoesNotWriteWhatItCouldNotRead) {
  CopyParams params;
  params.size = Bytes{128};
  params.lines_in_flight = 1;
  PatternContext context{1, "host"};
  context.accesses = 1;
  CopyEngine engine(params, context);
  Access access;
  Request failed;
  failed.failed = true;
  engine.at(Time{});
  ASSERT_TRUE(engine.next(access));
  EXPECT_FALSE(engine.next(access));
  engine.answered(0, failed, 5_ns);
  EXPECT_FALSE(engine.completed());
  ASSERT_TRUE(engine.next(access));
  EXPECT_EQ(access.kind, AccessKind::kRead);
  EXPECT_EQ(access.address.value(), 64U);
  engine.answered(1, failed, 9_ns);
  EXPECT_EQ(engine.completed(), Time{});
  EXPECT_FALSE(engine.open());
}

// So there are fewer requests than two for each line, and a note says why.
TEST(Copy, SaysWhyWritesAreMissing) {
  Running run(near_and_far(copy(1000, 96, 2)).event(test::fail_link("1us", "host", "near", "0ns")));
  run.to_end();
  const auto& notes = run.simulation().notes();
  const char* const why = "of 4000 requests, warm-up included: lines that could not be read were not written";
  EXPECT_TRUE(std::ranges::any_of(
      notes, [&](const std::string& note) { return note.find(why) != std::string::npos; }));
}

TEST(Copy, RefusesWhatItCannotDo) {
  const auto refusal = [](Value::Map more, Value::Map host = {{"queue", 512}}) {
    Value::Map work = {{"pattern", "copy"}, {"requests", 1}, {"footprint", "1MiB"}};
    work.insert(work.end(), more.begin(), more.end());
    return refusal_of(near_and_far(std::move(work), std::move(host)));
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({}, {{"queue", 16}}), "") << "as many lines as there are places";
  EXPECT_NE(refusal({{"size", "0B"}}), "");
  EXPECT_NE(refusal({{"size", "4GiB"}}), "");
  EXPECT_NE(refusal({{"size", "2MiB"}}).find("smaller than one descriptor"), std::string::npos);
  EXPECT_NE(refusal({{"lines_in_flight", 0}}), "");
  EXPECT_NE(refusal({{"lines_in_flight", 65}}, {{"queue", 64}}).find("at most 64"), std::string::npos);
  EXPECT_NE(refusal({{"destination", "0xfffc0"}}).find("overlaps the source"), std::string::npos);
  EXPECT_NE(refusal({{"source", "0xfffc0"}, {"destination", "0x0"}}).find("overlaps"), std::string::npos);
  EXPECT_EQ(refusal({{"source", "0x100000"}, {"destination", "0x0"}}), "");
  EXPECT_NE(refusal({{"destination", "0x100020"}}).find("multiple of 64"), std::string::npos);
  EXPECT_NE(refusal({{"destination", "0x7ffffc0"}}).find("destination"), std::string::npos)
      << "the end of memory";
  EXPECT_NE(refusal({{"rate", "1M/s"}}).find("rate"), std::string::npos);
  EXPECT_NE(refusal({}, {{"queue", 512}, {"core", Value::Map{}}}).find("core"), std::string::npos);
  EXPECT_NE(refusal({{"threads", 2}}).find("thread"), std::string::npos);
  const Value::List phases{Value::Map{{"pattern", "copy"}, {"footprint", "1MiB"}, {"requests", 1}}};
  EXPECT_NE(refusal_of(near_and_far({{"phases", phases}})).find("no phase"), std::string::npos);
  const Value::List objects{
      Value::Map{{"name", "a"}, {"size", "1MiB"}, {"pattern", Value::Map{{"kind", "copy"}}}}};
  EXPECT_NE(refusal_of(near_and_far({{"pattern", "objects"}, {"requests", 1}, {"objects", objects}})), "");
}

}  // namespace
}  // namespace cxloom

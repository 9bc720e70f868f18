// Extents of a memory that come and go, each for one host, or shared by tag.
#include "device/memory/dynamic_capacity.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::input_error;
using test::Running;
using test::SpecBuilder;

Value::Map extent(const char* base, const char* size, const char* host) {
  return {{"base", base}, {"size", size}, {"host", host}};
}

/// Reads of one host, one after the other: 10 at the host, 40 in the controller, 45 in the media, no time
/// between.
SpecBuilder one_host(const std::vector<std::uint64_t>& addresses, const Value::List& extents,
                     Value::Map memory = {}) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}}).device("other", "host");
  memory.insert(memory.end(), {{"capacity", "64KiB"},
                               {"controller_time", "40ns"},
                               {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}},
                               {"dynamic_capacity", Value::Map{{"extents", extents}}}});
  system.device("bus", "bus", {{"bus_time", "0ns"}}).device("mem", "memory", std::move(memory));
  for (const char* name : {"host", "other", "mem"}) system.link(name, "bus", {{"port_delay", "0ns"}});
  // The region begins elsewhere than the memory does.
  system.region({"mem"}, {{"base", "1GiB"}}).outputs({{"requests", true}});
  std::vector<Access> all;
  for (const std::uint64_t address : addresses) all.push_back(access_to((1U << 30U) + address));
  return system.replay("host", all);
}

Value::Map event(const char* at, const char* action, Value::Map extent) {
  extent.emplace_back("device", "mem");
  return {{"at", at}, {action, std::move(extent)}};
}

TEST(DynamicCapacity, AnswersWhatLiesOutsideWithAnError) {
  // Its own extent to the last line; behind it; that of another; before all.
  Running run(one_host({4096, 8128, 8192, 16384, 0},
                       {extent("4KiB", "4KiB", "host"), extent("16KiB", "4KiB", "other")}));
  run.to_end();
  for (const std::size_t row : {0U, 1U}) EXPECT_EQ(run.latency(row), 95_ns);
  for (const std::size_t row : {2U, 3U, 4U}) EXPECT_EQ(run.latency(row), 50_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 3.0);
  EXPECT_EQ(run.number({"per_memory", "mem", "extent_errors"}), 3.0);
  EXPECT_EQ(run.number({"per_memory", "mem", "requests"}), 2.0);
}

TEST(DynamicCapacity, FreesThePlacesAndBuffersOfWhatItRefuses) {
  for (Value::Map memory : {Value::Map{{"queue", 1}}, Value::Map{{"read_buffer", 1}, {"write_buffer", 1}},
                            Value::Map{{"write_buffer", 1}, {"posted_writes", true}},
                            Value::Map{{"queue", 1}, {"credit_release", "completion"}}}) {
    std::vector<std::uint64_t> addresses(50, 0);
    addresses.push_back(4096);
    Running run(one_host(addresses, {extent("4KiB", "4KiB", "host")}, memory));
    run.to_end();
    EXPECT_EQ(run.latency(50), 95_ns);
    EXPECT_EQ(run.number({"errors", "requests"}), 50.0);
  }
}

TEST(DynamicCapacity, ComesAndGoesDuringTheRun) {
  const std::vector<std::uint64_t> addresses(10, 0);
  Running run(one_host(addresses, {})
                  .event(event("120ns", "add_extent", extent("0x0", "4KiB", "host")))
                  .event(event("200ns", "release_extent", extent("0x0", "4KiB", "host"))));
  run.to_end();
  // At the memory at 10 and 60 ns: too early. At 110 it is refused, too. At 160 data, until 245: what is
  // under way at the release is answered. At 255 the extent is gone.
  for (const std::size_t row : {0U, 1U, 2U, 4U, 5U, 9U}) EXPECT_EQ(run.latency(row), 50_ns) << row;
  EXPECT_EQ(run.latency(3), 95_ns);
  // 4 KiB for 80 of 9 x 50 + 95 ns.
  EXPECT_NEAR(run.number({"per_memory", "mem", "extent_bytes", "host"}), 4096.0 * 80 / 545, 1e-9);
  EXPECT_EQ(run.number({"per_memory", "mem", "extent_bytes", "other"}), 0.0);
}

TEST(DynamicCapacity, AnswersBesideRoutingThatChangesTheOrder) {
  for (const char* routing : {"adaptive", "ugal"}) {
    Running run(one_host(std::vector<std::uint64_t>(10, 0), {})
                    .event(event("120ns", "add_extent", extent("0x0", "4KiB", "host")))
                    .run_with({{"routing", routing}}));
    run.to_end();
    EXPECT_EQ(run.latency(2), 50_ns);
    EXPECT_EQ(run.latency(3), 95_ns);
    EXPECT_EQ(run.number({"errors", "requests"}), 3.0);
  }
}

TEST(DynamicCapacity, LeavesFailuresWhatTheyCost) {
  const Value::Map fail{{"link", Value::List{"mem", "bus"}}, {"reroute_time", "1ns"}};
  Running run(one_host(std::vector<std::uint64_t>(10, 0), {})
                  .event({{"at", "1ns"}, {"fail", fail}})
                  .event(event("5ns", "add_extent", extent("0x0", "4KiB", "host"))));
  run.to_end();
  EXPECT_EQ(run.number({"events", "1ns fail link mem-bus", "failed"}), 10.0);
  EXPECT_EQ(run.summary().find("events")->as_map()->size(), 1U);  // an extent costs nothing by itself
}

Value::Map shared(const char* base, const char* size, const char* host, const char* tag) {
  Value::Map shared = extent(base, size, host);
  shared.emplace_back("tag", tag);
  return shared;
}

TEST(DynamicCapacity, HostsShareAnExtentOfOneTag) {
  // The first line and the last one of the extent, and those beside it; `third` shares nothing.
  const std::vector<std::uint64_t> addresses{4096, 8128, 4032, 8192};
  for (const char* host : {"host", "other", "third"}) {
    SpecBuilder system =
        one_host(addresses, {shared("4KiB", "4KiB", "other", "log"), extent("0x0", "4KiB", "third"),
                             shared("4KiB", "4KiB", "host", "log")});
    system.device("third", "host", {{"queue", 1}}).link("third", "bus", {{"port_delay", "0ns"}});
    std::vector<Access> all;
    for (const std::uint64_t address : addresses) all.push_back(access_to((1U << 30U) + address));
    Running run(host == std::string("host") ? std::move(system) : std::move(system.replay(host, all)));
    run.to_end();
    const bool shares = host != std::string("third");
    EXPECT_EQ(run.number({"per_requester", host, "requests"}), shares ? 2.0 : 1.0) << host;
    EXPECT_EQ(run.number({"per_memory", "mem", "extent_bytes", "host"}), 4096.0);
    EXPECT_EQ(run.number({"per_memory", "mem", "extent_bytes", "other"}), 4096.0);
  }
}

TEST(DynamicCapacity, AReleaseLeavesOthersWhatTheyShare) {
  const std::vector<std::uint64_t> addresses(10, 0);
  for (const char* leaving : {"host", "other"}) {
    Running run(
        one_host(addresses, {shared("0x0", "4KiB", "host", "log"), shared("0x0", "4KiB", "other", "log")})
            .event(event("200ns", "release_extent", shared("0x0", "4KiB", leaving, "log"))));
    run.to_end();
    EXPECT_EQ(run.number({"errors", "requests"}), leaving == std::string("host") ? 8.0 : 0.0);
  }
}

TEST(DynamicCapacity, RefusesToShareOtherwise) {
  const auto problem = [](const Value::Map& first, const Value::Map& second) {
    return input_error([&] { Running run(one_host({0}, {first, second})); }).detail().problem;
  };
  const Value::Map first = shared("4KiB", "4KiB", "host", "log");
  EXPECT_EQ(problem(first, shared("4KiB", "4KiB", "other", "")), "the extent overlaps another");
  EXPECT_EQ(problem(first, shared("4KiB", "4KiB", "other", "data")), "the extent overlaps another");
  EXPECT_EQ(problem(extent("4KiB", "4KiB", "host"), extent("4KiB", "4KiB", "other")),
            "the extent overlaps another");
  EXPECT_EQ(problem(first, shared("4KiB", "2KiB", "other", "log")), "hosts share an extent as a whole");
  EXPECT_EQ(problem(first, shared("0x0", "8KiB", "other", "log")), "hosts share an extent as a whole");
  EXPECT_EQ(problem(first, first), "the host has the extent already");
}

TEST(DynamicCapacity, RefusesWhatCannotBe) {
  const auto path = [](const SpecBuilder& system) {
    return input_error([&] { Running run(system); }).path();
  };
  const auto with = [](const Value::List& extents) { return one_host({0}, extents); };
  const std::string at = "devices.mem.dynamic_capacity.extents";
  EXPECT_EQ(path(with({extent("0x0", "128KiB", "host")})), at + "[0].size");
  EXPECT_EQ(path(with({extent("60KiB", "8KiB", "host")})), at + "[0].size");
  EXPECT_EQ(path(with({extent("0x0", "4KiB", "mem")})), at + "[0].host");
  EXPECT_EQ(path(with({extent("4KiB", "4KiB", "host"), extent("0x0", "4160B", "other")})), at + "[1].base");
  EXPECT_EQ(path(with({extent("0x0", "8KiB", "host"), extent("4KiB", "64B", "host")})), at + "[1].base");
  EXPECT_EQ(path(with({}).event(event("1us", "release_extent", extent("0x0", "4KiB", "host")))),
            "events[0].release_extent");
  EXPECT_EQ(path(with({extent("0x0", "4KiB", "host")})
                     .event(event("1us", "add_extent", extent("0x0", "64B", "other")))),
            "events[0].add_extent.base");
  EXPECT_EQ(path(with({extent("0x0", "4KiB", "host")})
                     .event(event("1us", "release_extent", extent("0x0", "4KiB", "host")))
                     .event(event("2us", "release_extent", extent("0x0", "4KiB", "host")))),
            "events[1].release_extent");
}

}  // namespace
}  // namespace cxloom

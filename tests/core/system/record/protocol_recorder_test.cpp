// The rows of the protocol log, from messages as devices tell of them; and from a system, where each message
// is one row.
#include "system/record/protocol_recorder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// Memory without a coherency agent.
AddressMap plain_map() {
  AddressMap map;
  RegionParams region;
  region.to = {"mem"};
  map.add_region(region, {{"mem", NodeId{1}, Bytes{1U << 20U}}});
  return map;
}

Message message_to(std::uint64_t address, Opcode opcode = Opcode::kMemRd, std::uint8_t lines = 0) {
  Message message;
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.source = message.requester = NodeId{0};
  message.destination = NodeId{1};
  message.address = Address{address};
  message.size = 64;
  message.lines = lines;
  return message;
}

std::string before(const ProtocolTable& table, std::size_t row) { return table.states[table.before[row]]; }
std::string after(const ProtocolTable& table, std::size_t row) { return table.states[table.after[row]]; }

TEST(ProtocolRecorder, ARowHasWhenTheMessageWasSentAndActedOnAndWhatChanged) {
  const AddressMap map = plain_map();
  ProtocolRecorder recorder(map, {});
  const Message read = message_to(0x48);
  const Message write = message_to(0x80, Opcode::kMemWr);
  recorder.sent(read, 10_ns);
  recorder.handling(read, NodeId{1}, 30_ns, "I");
  recorder.handled("E");
  recorder.handling(write, NodeId{1}, 40_ns, "");  // sent before the log began
  recorder.handled("");
  const ProtocolTable table = recorder.take();
  EXPECT_EQ(table.time_ps, (std::vector<std::int64_t>{30'000, 40'000}));
  EXPECT_EQ(table.sent_ps, (std::vector<std::int64_t>{10'000, ProtocolTable::kNever}));
  EXPECT_EQ(table.from, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(table.to, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(table.address, (std::vector<std::uint64_t>{0x48, 0x80}));
  EXPECT_EQ(table.lines, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(table.payload, (std::vector<std::uint16_t>{0, 64}));
  EXPECT_EQ(table.snp, (std::vector<std::uint8_t>{ProtocolTable::kNone, ProtocolTable::kNone}));
  EXPECT_EQ(before(table, 0) + " -> " + after(table, 0), "I -> E");
  EXPECT_EQ(before(table, 1) + " -> " + after(table, 1), " -> ");
  EXPECT_TRUE(recorder.take().time_ps.empty());
}

TEST(ProtocolRecorder, OnlyMemoryOfLogicalDevicesHasLdIds) {
  const AddressMap map = plain_map();
  for (const bool divided : {false, true}) {
    ProtocolRecorder recorder(map, {}, divided ? std::vector{NodeId{1}} : std::vector<NodeId>{});
    Message read = message_to(0x40);
    read.set_ld(3);
    recorder.handling(read, NodeId{1}, 1_ns, "");
    recorder.handled("");
    EXPECT_EQ(recorder.take().ld,
              std::vector<std::uint8_t>{divided ? std::uint8_t{3} : ProtocolTable::kNone});
  }
}

TEST(ProtocolRecorder, AMessageWithinAnotherToTheSameLineFollowsOnIt) {
  const AddressMap map = plain_map();
  ProtocolRecorder recorder(map, {});
  const Message outer = message_to(0x40);
  const Message inner = message_to(0x40);
  const Message elsewhere = message_to(0x80);
  recorder.handling(outer, NodeId{1}, 1_ns, "S");
  recorder.handling(elsewhere, NodeId{1}, 1_ns, "I");  // of another line: it is no end of the first
  recorder.handled("E");
  recorder.handling(inner, NodeId{1}, 1_ns, "M");
  recorder.handled("I");
  recorder.handled("I");
  const ProtocolTable table = recorder.take();
  ASSERT_EQ(table.time_ps.size(), 3U);
  EXPECT_EQ(before(table, 0) + after(table, 0), "SM");
  EXPECT_EQ(before(table, 1) + after(table, 1), "IE");
  EXPECT_EQ(before(table, 2) + after(table, 2), "MI");
}

TEST(ProtocolRecorder, OfLinesThatAreAskedForItHasAllMessagesAndNoOthers) {
  const AddressMap map = plain_map();
  ProtocolRecorder recorder(map, {LineAddress{5}, LineAddress{2}});
  const auto tell = [&](const Message& message) {
    recorder.sent(message, 1_ns);
    recorder.handling(message, NodeId{1}, 2_ns, "I");
    recorder.handled("I");
    return recorder.take().time_ps.size();
  };
  EXPECT_EQ(tell(message_to(0x7f)), 0U);
  EXPECT_EQ(tell(message_to(0x80)), 1U);
  EXPECT_EQ(tell(message_to(0xbf)), 1U);
  EXPECT_EQ(tell(message_to(0xc0)), 0U);
  EXPECT_EQ(tell(message_to(0x140)), 1U);
  // A block from line 3 on: two lines miss both, three have line 5.
  EXPECT_EQ(tell(message_to(0xc0, Opcode::kBISnpInvBlk, 2)), 0U);
  EXPECT_EQ(tell(message_to(0xc0, Opcode::kBISnpInvBlk, 3)), 1U);
  EXPECT_EQ(tell(message_to(0x80, Opcode::kMRd)), 0U);  // CXL.io has no address of a line
}

TEST(ProtocolRecorder, EachMessageOfASystemIsARow) {
  for (const bool coherent : {false, true}) {
    SpecBuilder system;
    system.device("h", "host", {{"queue", 2}});
    system.device("a", "accelerator",
                  {{"cache", Value::Map{{"size", "1KiB"}}}, {"memory", Value::Map{{"capacity", "4KiB"}}}});
    Value::Map memory{{"capacity", "4KiB"}};
    if (coherent) memory.emplace_back("dcoh", Value::Map{});
    system.device("mem", "memory", memory);
    system.device("io", "io-engine", {{"target", "mem"}, {"traffic", "dma-read"}, {"rate", "1GB/s"}});
    system.device("sw", "switch", {});
    for (const char* device : {"h", "a", "mem", "io"}) system.link(device, "sw");
    system.region({"mem"}, {{"coherence", coherent ? "hdm-db" : "none"}});
    system.region({"a"});
    for (const char* device : {"h", "a"}) {
      system.work(device,
                  {{"pattern", "random"}, {"reads", "50%"}, {"requests", 300}, {"footprint", "8KiB"}});
    }
    Running run(system);
    run.simulation().log_protocol({});
    run.to_end();
    const ProtocolTable table = run.simulation().recorders().protocol()->take();
    std::map<std::string, int> rows;
    std::map<std::uint8_t, int> parts;
    for (std::size_t i = 0; i < table.time_ps.size(); ++i) {
      ++rows[std::string(kOpcodeNames[table.opcode[i]])];
      ++parts[table.part[i]];
      EXPECT_LE(table.sent_ps[i], table.time_ps[i]);
      EXPECT_NE(table.sent_ps[i], ProtocolTable::kNever);
      EXPECT_LE(table.time_ps[i == 0 ? 0 : i - 1], table.time_ps[i]);
    }
    // What asks is answered.
    EXPECT_EQ(rows["MemRd"] + rows["MemRdData"], rows["MemData"]);
    EXPECT_EQ(rows["MemWr"], rows["Cmp"]);
    EXPECT_EQ(rows["MRd"], rows["CplD"]);
    EXPECT_GT(rows["MRd"], 0);
    const int snoops = rows["BISnpInv"] + rows["BISnpData"] + rows["BISnpCur"];
    EXPECT_EQ(snoops, rows["BIRspI"] + rows["BIRspS"] + rows["BIRspE"]);
    EXPECT_EQ(snoops > 0, coherent);
    EXPECT_GT(parts[static_cast<std::uint8_t>(RunPart::kWindow)], 0);
    EXPECT_GT(table.states.size(), 1U);  // of the accelerator's cache in any case
  }
}

TEST(ProtocolRecorder, AnAddressThatNoRegionHoldsIsRefused) {
  SpecBuilder system;
  system.device("h", "host", {}).device("mem", "memory", {{"capacity", "1MiB"}}).link("h", "mem");
  system.region({"mem"}).work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "1MiB"}});
  Running run(system);
  EXPECT_NO_THROW(run.simulation().log_protocol({Address{0xfffff}}));
  try {
    run.simulation().log_protocol({Address{0x100000}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("0x100000"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cxloom::test

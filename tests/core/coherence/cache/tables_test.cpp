// The tables of what a cache asks for and how it answers snoops, in docs/model/coherence.md and
// docs/model/cxl_cache.md, against the cache of the simulator. The test plays the home.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "coherence/cache/agent.hpp"
#include "coherence/common/write_pull.hpp"
#include "core/support/coherence_bench.hpp"
#include "core/support/docs_table.hpp"
#include "core/support/errors.hpp"
#include "core/support/message_bench.hpp"
#include "core/support/scripted_peer.hpp"
#include "core/support/victims.hpp"
#include "protocol/address_map.hpp"

namespace cxloom::test {
namespace {

constexpr LineAddress kCachedLine{0};
constexpr LineAddress kOther{1};

/// A document, the mode that it is about, and the opcodes by which that gives a line.
struct CacheProtocol {
  std::string document;
  Coherence coherence;
  Opcode data;
  Opcode exclusive;
  Opcode shared;
};
const std::vector<CacheProtocol>& cache_protocols() {
  static const std::vector<CacheProtocol> all{
      {"docs/model/coherence.md", Coherence::kHdmDb, Opcode::kMemData, Opcode::kCmpE, Opcode::kCmpS},
      {"docs/model/cxl_cache.md", Coherence::kHdmH, Opcode::kH2DData, Opcode::kGoE, Opcode::kGoS}};
  return all;
}

/// A cache of one line, and its home.
class CacheBench final : private CacheAgent::Client {
 public:
  CacheBench(const CacheProtocol& protocol, const CacheAgentParams& params)
      : protocol_(protocol),
        host_(bench_.add_device("host")),
        cache_(params, Time{}, host_, bench_.context_of(host_), cache_kinds(),
               static_cast<CacheAgent::Client&>(*this)),
        home_(bench_.add_device("home")) {
    host_.add(cache_);
    for (std::size_t i = 0; i < kChannelCount; ++i) host_.bind(static_cast<Channel>(i), cache_);
    RegionParams region;
    region.to = {"home"};
    region.coherence = protocol.coherence;
    bench_.system_context().map->add_region(region, {{"home", home_.endpoint().id(), Bytes{1U << 20U}}});
    bench_.start();
  }

  /// Returns what comes to the home.
  std::vector<Message*> access(AccessKind kind, LineAddress line, std::uint16_t size = kLineBytes) {
    Request& request = requests_.take();
    request.kind = kind;
    request.size = size;
    request.address = line.address();
    request.target = host_.id();
    request.begin(host_.id(), Time{});
    cache_.access(request);
    return arrived();
  }
  /// The messages after one of the home.
  std::vector<Message*> arrived() {
    bench_.settle();
    while (!bench_.queues().empty()) bench_.deliver(bench_.queues().begin()->first);
    return home_.take_received();
  }
  /// Gives the cache a line that it asked for.
  std::vector<Message*> give(Message& request, Opcode grant) {
    home_.complete(request, grant);
    home_.answer(request, protocol_.data);
    return arrived();
  }
  /// Brings the line into this state.
  void bring(char state) {
    if (state == 'I') return;
    const AccessKind kind = state == 'M' ? AccessKind::kWrite : AccessKind::kRead;
    const std::vector<Message*> asked = access(kind, kCachedLine);
    ASSERT_EQ(asked.size(), 1U);
    give(*asked.front(), state == 'S' ? protocol_.shared : protocol_.exclusive);
    ASSERT_EQ(held(), state);
  }
  char held() const { return "IEMS"[static_cast<std::size_t>(cache_.held(kCachedLine))]; }
  std::size_t under_way() const { return requests_.live(); }
  Opcode exclusive() const { return protocol_.exclusive; }
  ScriptedPeer& home() { return home_; }
  NodeId host() const { return host_.id(); }

 private:
  void answered(Request& request) override { requests_.give_back(request); }
  void written_back(NodeId /*target*/, std::uint16_t /*bytes*/) override {}
  void prefetched(NodeId /*target*/, std::uint16_t /*bytes*/) override {}
  void go_on() override {}

  const CacheProtocol& protocol_;
  MessageBench bench_;
  Endpoint& host_;
  CacheAgent cache_;
  ScriptedPeer home_;
  Pool<Request> requests_;
};

/// The settings that a text names, as "`read_state: any`".
CacheAgentParams settings_in(const std::string& text) {
  CacheAgentParams params = small_cache(1);
  if (contains(text, "`read_state: shared`")) params.read_state = ReadState::kShared;
  if (contains(text, "`write_allocate: false`")) params.write_allocate = false;
  if (contains(text, "`clean_evictions: notified`")) params.clean_evictions = CleanEvictions::kNotified;
  return params;
}

/// What a message says besides its opcode, as a cell says it.
void expect_fields(const Message& message, const std::string& cell) {
  for (const auto& [name, snp] : {std::pair{"SnpData", SnpType::kSnpData}, {"SnpInv", SnpType::kSnpInv}}) {
    EXPECT_EQ(message.snp == snp, contains(cell, name)) << cell;
  }
  for (const auto& [name, meta] : {std::pair{"invalid", MetaValue::kInvalid},
                                   {"shared", MetaValue::kShared},
                                   {"any", MetaValue::kAny}}) {
    const bool said = contains(cell, "MetaValue " + std::string(name));
    EXPECT_TRUE(!said || message.meta == meta) << cell;
  }
}

/// Plays the answer of a cell: "MemData and Cmp-E", or "WritePull, then D2H-Data, then GO-I", where D2H-Data
/// come from the cache.
void play(CacheBench& bench, Message& request, const std::vector<Opcode>& answer) {
  Message pull;
  Message* data = nullptr;  // that came
  for (const Opcode opcode : answer) {
    std::vector<Message*> came;
    switch (opcode) {
      case Opcode::kD2HData:
        ASSERT_NE(data, nullptr);
        EXPECT_EQ(data->opcode, opcode);
        continue;
      case Opcode::kWritePull:
        pull.source = bench.home().endpoint().id();
        pull.destination = bench.host();
        pull.address = request.address;
        pull.opcode = opcode;
        bench.home().send(pull);
        came = bench.arrived();
        break;
      case Opcode::kGoWritePull: request.completion = &pull; [[fallthrough]];
      default:
        // The grant is the second part of a read's answer.
        if (request.completion && request.completion != &pull && opcode != answer.back()) {
          bench.home().complete(request, opcode);
        } else {
          bench.home().answer(request, opcode);
        }
        came = bench.arrived();
    }
    if (!came.empty()) data = came.front();
  }
}

std::vector<Message*> act(CacheBench& bench, const std::string& access) {
  if (contains(access, "victim")) {
    std::vector<Message*> sent = bench.access(AccessKind::kRead, kOther);
    EXPECT_EQ(sent.size(), 1U);
    return bench.give(*sent.front(), bench.exclusive());
  }
  const bool part = contains(access, "of less");
  return bench.access(contains(access, "write") ? AccessKind::kWrite : AccessKind::kRead, kCachedLine,
                      part ? 8 : kLineBytes);
}

/// One row, for one state that the line is in. `choice`: of what its answer leaves open.
void play_cache_row(const CacheProtocol& protocol, const DocsRow& row, char state, bool silent,
                    std::size_t choice) {
  const std::string& access = row.at("access");
  const std::string& cell = row.at("message");
  SCOPED_TRACE(protocol.document + ": " + access + " | " + std::string(1, state) + " | " + cell);
  CacheBench bench(protocol, settings_in(access + (silent ? "" : cell)));
  ASSERT_NO_FATAL_FAILURE(bench.bring(state));
  const std::vector<Message*> sent = act(bench, access);
  std::string becomes = row.at("line becomes");
  if (becomes == "as it was") becomes = state;
  if (contains(becomes, " or ")) becomes = becomes.substr(choice * 5, 1);
  if (!silent) {
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(name_of(sent.front()->opcode), name_of(opcodes_in(cell).front()));
    expect_fields(*sent.front(), cell);
    std::vector<Opcode> answer = opcodes_in(row.at("answer"));
    if (contains(row.at("answer"), " or "))
      answer.erase(
          std::find(answer.begin(), answer.end(), choice == 0 ? protocol.shared : protocol.exclusive));
    play(bench, *sent.front(), answer);
  } else {
    EXPECT_TRUE(sent.empty());
  }
  EXPECT_EQ(std::string(1, bench.held()), becomes);
  EXPECT_EQ(bench.under_way(), 0U);
}

TEST(CacheTables, WhatACacheAsksFor) {
  for (const CacheProtocol& protocol : cache_protocols()) {
    const std::vector<DocsRow> rows = docs_table(protocol.document, {"access", "line is", "message"});
    EXPECT_GE(rows.size(), 8U);
    for (const DocsRow& row : rows) {
      for (const std::string& state : split(row.at("line is"))) {
        const bool choice = contains(row.at("line becomes"), " or ");
        const std::vector<Opcode> opcodes = opcodes_in(row.at("message"));
        if (contains(row.at("message"), "none")) play_cache_row(protocol, row, state.front(), true, 0);
        if (!opcodes.empty()) play_cache_row(protocol, row, state.front(), false, 0);
        if (choice) play_cache_row(protocol, row, state.front(), false, 1);
      }
    }
  }
}

/// What stays of a line after this answer.
char left_by(const std::string& answer, char before) {
  if (contains(answer, "RspV")) return before;
  for (const char state : {'I', 'S', 'E'}) {
    if (contains(answer, std::string("Rsp") + state)) return state;
  }
  return '?';
}

void play_snoop(const CacheProtocol& protocol, const std::string& snoop, char state,
                const std::string& cell) {
  SCOPED_TRACE(protocol.document + ": " + snoop + " | " + std::string(1, state) + " | " + cell);
  CacheBench bench(protocol, small_cache(1));
  ASSERT_NO_FATAL_FAILURE(bench.bring(state));
  Message& message = bench.home().request(opcodes_in(snoop).front(), kCachedLine, bench.host());
  bench.home().send(message);
  std::vector<Message*> sent = bench.arrived();
  std::vector<Opcode> expected = opcodes_in(cell);
  if (expected.front() == Opcode::kMemWr) {
    ASSERT_EQ(sent.size(), 1U);
    ASSERT_EQ(sent.front()->opcode, Opcode::kMemWr);
    const char stays = left_by(cell, state);
    EXPECT_EQ(sent.front()->meta, stays == 'I'   ? MetaValue::kInvalid
                                  : stays == 'S' ? MetaValue::kShared
                                                 : MetaValue::kAny);
    expected.erase(expected.begin());
    bench.home().answer(*sent.front(), Opcode::kCmp);
    sent = bench.arrived();
  }
  std::vector<Opcode> opcodes;
  for (const Message* const each : sent) opcodes.push_back(each->opcode);
  std::sort(opcodes.begin(), opcodes.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(opcodes, expected);
  EXPECT_EQ(bench.held(), left_by(cell, state));
}

TEST(CacheTables, HowACacheAnswersSnoops) {
  for (const CacheProtocol& protocol : cache_protocols()) {
    const std::vector<DocsRow> rows = docs_table(protocol.document, {"snoop", "M", "E", "S", "I"});
    EXPECT_EQ(rows.size(), 3U);
    for (const DocsRow& row : rows) {
      for (const char state : {'M', 'E', 'S', 'I'})
        play_snoop(protocol, row.at("snoop"), state, row.at(std::string(1, state)));
    }
  }
}

}  // namespace
}  // namespace cxloom::test

// The tables of what a home does for a request, in docs/model/coherence.md and docs/model/cxl_cache.md,
// against the agents of the simulator. The test plays the caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "coherence/common/write_pull.hpp"
#include "coherence/home/agent.hpp"
#include "coherence/home/dcoh.hpp"
#include "core/support/coherence_bench.hpp"
#include "core/support/docs_table.hpp"
#include "core/support/errors.hpp"
#include "core/support/message_bench.hpp"
#include "core/support/scripted_peer.hpp"
#include "core/support/victims.hpp"
#include "kernel/kernel.hpp"
#include "protocol/address_map.hpp"

namespace cxloom::test {
namespace {

constexpr LineAddress kHomeLine{0};

/// Answers at once.
class Memory final : public Agent {
 public:
  explicit Memory(Endpoint& device) : Agent(device) { device.add_sender(*this); }
  void put_behind(MemoryFront& front) { done_.front = &front; }
  void receive(Message& message) override {
    endpoint().kernel().deliver(Time{}, endpoint().source(), done_, message);
  }

 private:
  struct Done final : EventHandler {
    void receive(Message& message) override {
      message.opcode = message.opcode == Opcode::kMemWr ? Opcode::kCmp : Opcode::kMemData;
      message.channel = channel_of(message.opcode);
      front->memory_answered(message);
    }
    MemoryFront* front = nullptr;
  };
  Done done_;
};

/// A home, and three caches: the first makes the request of a row, the others hold the line.
class HomeBench {
 public:
  explicit HomeBench(Coherence coherence)
      : caches_{ScriptedPeer(bench_.add_device("h0")), ScriptedPeer(bench_.add_device("h1")),
                ScriptedPeer(bench_.add_device("h2"))},
        device_(bench_.add_device("home")),
        memory_(device_) {
    bench_.system_context().caches.assign(3, nullptr);
    const ComponentContext context = bench_.context_of(device_);
    if (coherence == Coherence::kHdmH) {
      HomeAgentParams params;
      params.lookup_time = {};
      home_ = std::make_unique<HomeAgent>(params, device_, context, victims(), &memory_);
    } else {
      home_ = std::make_unique<Dcoh>(small_home(2), device_, context, victims(), &memory_);
    }
    memory_.put_behind(*home_);
    RegionParams region;
    region.to = {"home"};
    region.coherence = coherence;
    bench_.system_context().map->add_region(region, {{"home", device_.id(), Bytes{1U << 20U}}});
    bench_.start();
  }

  struct Snooped {
    std::size_t cache;
    Opcode opcode;
    auto operator<=>(const Snooped&) const = default;
  };
  struct Outcome {
    std::vector<Snooped> snoops;
    std::vector<Opcode> answers;  // to the request
  };

  /// A request of a cache, and all that follows. `keep`: caches answer snoops that would let them keep the
  /// line that they do.
  Outcome ask(std::size_t cache, const std::string& request, bool keep = true) {
    const std::vector<Opcode> opcodes = opcodes_in(request);
    Message& message = caches_[cache].request(opcodes.front(), kHomeLine, device_.id());
    if (contains(request, "SnpData")) message.snp = SnpType::kSnpData;
    if (contains(request, "SnpInv")) message.snp = SnpType::kSnpInv;
    if (contains(request, "SnpCur")) message.snp = SnpType::kSnpCur;
    if (message.opcode == Opcode::kMemRdData) message.snp = SnpType::kSnpData;
    if (message.opcode == Opcode::kMemInv) message.snp = SnpType::kSnpInv;
    const bool keeps_copy = message.channel == Channel::kM2SReq && opcodes.front() != Opcode::kMemWr &&
                            message.opcode != Opcode::kMemClnEvct && message.snp != SnpType::kSnpCur;
    if (keeps_copy) message.meta = contains(request, "MemRd, SnpData") ? MetaValue::kShared : MetaValue::kAny;
    if (contains(request, "keeps E")) message.meta = MetaValue::kAny;
    if (contains(request, "keeps S")) message.meta = MetaValue::kShared;
    if (!has_two_answers(message)) message.completion = nullptr;
    caches_[cache].send(message);
    return play(cache, keep);
  }
  std::string state() const { return home_->line_state(kHomeLine); }

 private:
  static bool has_two_answers(const Message& message) {
    switch (message.opcode) {
      case Opcode::kMemRdData:
      case Opcode::kRdShared:
      case Opcode::kRdAny:
      case Opcode::kRdOwn: return true;
      default: return message.opcode == Opcode::kMemRd && message.snp != SnpType::kSnpCur;
    }
  }
  static Opcode answer_to(Opcode snoop, bool keep) {
    switch (snoop) {
      case Opcode::kBISnpCur: return keep ? Opcode::kBIRspE : Opcode::kBIRspI;
      case Opcode::kBISnpData: return keep ? Opcode::kBIRspS : Opcode::kBIRspI;
      case Opcode::kBISnpInv: return Opcode::kBIRspI;
      case Opcode::kSnpCur: return keep ? Opcode::kRspVHitV : Opcode::kRspIHitI;
      case Opcode::kSnpData: return keep ? Opcode::kRspSHitSE : Opcode::kRspIHitI;
      default: return Opcode::kRspIHitSE;
    }
  }

  Outcome play(std::size_t asker, bool keep) {
    Outcome outcome;
    bench_.settle();
    while (!bench_.queues().empty()) {
      bench_.deliver(bench_.queues().begin()->first);
      for (std::size_t cache = 0; cache < caches_.size(); ++cache) {
        for (Message* const message : caches_[cache].take_received()) {
          if (message->channel == Channel::kS2MBISnp || message->channel == Channel::kH2DReq) {
            outcome.snoops.push_back({cache, message->opcode});
            caches_[cache].answer(*message, answer_to(message->opcode, keep));
            continue;
          }
          EXPECT_EQ(cache, asker);
          outcome.answers.push_back(message->opcode);
          if (message->opcode == Opcode::kWritePull || message->opcode == Opcode::kGoWritePull)
            send_pulled_data(caches_[cache], *message, Time{});
        }
      }
    }
    std::sort(outcome.snoops.begin(), outcome.snoops.end());
    return outcome;
  }

  MessageBench bench_;
  std::array<ScriptedPeer, 3> caches_;
  Endpoint& device_;
  Memory memory_;
  std::unique_ptr<DirectoryAgent> home_;
};

struct HomeProtocol {
  std::string document;
  Coherence coherence;
  std::string shares;  ///< the request that leaves the line shared,
  std::string owns;    ///< and exclusive
  Opcode data;
  Opcode exclusive;
  Opcode shared;
};
const std::vector<HomeProtocol>& home_protocols() {
  static const std::vector<HomeProtocol> all{
      {"docs/model/coherence.md", Coherence::kHdmDb, "MemRd, SnpData", "MemRd, SnpInv", Opcode::kMemData,
       Opcode::kCmpE, Opcode::kCmpS},
      {"docs/model/cxl_cache.md", Coherence::kHdmH, "RdShared", "RdOwn", Opcode::kH2DData, Opcode::kGoE,
       Opcode::kGoS}};
  return all;
}

enum class Before { kNobody, kShared, kExclusive };

/// Requests of an owner that shares the line: the first cache does, too.
bool upgrades(const std::string& request) {
  return contains(request, "MemInv") || contains(request, "RdOwnNoData");
}

void bring(HomeBench& bench, const HomeProtocol& protocol, Before before, const std::string& request) {
  if (before == Before::kNobody) return;
  bench.ask(1, before == Before::kShared ? protocol.shares : protocol.owns);
  if (before == Before::kExclusive) {
    ASSERT_EQ(bench.state(), "E{h1}");
    return;
  }
  bench.ask(2, protocol.shares);
  if (upgrades(request)) bench.ask(0, protocol.shares);
  ASSERT_EQ(bench.state().front(), 'S');
}

/// "BISnpInv to all others"
std::vector<HomeBench::Snooped> snoops_of(const std::string& cell) {
  const std::vector<Opcode> opcodes = opcodes_in(cell);
  if (opcodes.empty()) return {};
  if (contains(cell, "to all others")) return {{1, opcodes.front()}, {2, opcodes.front()}};
  return {{1, opcodes.front()}};
}

void play_home_row(const HomeProtocol& protocol, const DocsRow& row, Before before, bool keep) {
  const std::string& request = row.at("request");
  const std::string& grants = row.at("grants");
  HomeBench bench(protocol.coherence);
  ASSERT_NO_FATAL_FAILURE(bring(bench, protocol, before, request));
  const std::string state = bench.state();
  SCOPED_TRACE(protocol.document + ": " + request + " | " + state + (keep ? "" : ", which nobody keeps"));
  const HomeBench::Outcome outcome = bench.ask(0, request, keep);

  std::vector<HomeBench::Snooped> expected;
  if (before == Before::kShared) expected = snoops_of(row.at("line is shared"));
  if (before == Before::kExclusive) expected = snoops_of(row.at("line is exclusive to another"));
  EXPECT_EQ(outcome.snoops, expected);

  const auto answered = [&](Opcode opcode) {
    return std::find(outcome.answers.begin(), outcome.answers.end(), opcode) != outcome.answers.end();
  };
  const bool others = before == Before::kShared || (before == Before::kExclusive && keep);  // hold it still
  const bool exclusive = contains(grants, "else S") ? !others : grants.front() == 'E';
  const bool nothing = grants == "nothing";
  EXPECT_EQ(answered(protocol.exclusive), exclusive && !nothing);
  EXPECT_EQ(answered(protocol.shared), !exclusive && !nothing);
  const bool write = contains(request, "Wr");
  EXPECT_EQ(answered(protocol.data), !write && !contains(grants, "without data"));
  if (nothing && write) {
    EXPECT_EQ(bench.state(), "I");
  } else if (nothing) {
    EXPECT_EQ(bench.state(), keep ? state : "I");
  } else if (exclusive) {
    EXPECT_EQ(bench.state(), "E{h0}");
  } else {
    EXPECT_EQ(bench.state().front(), 'S');
    EXPECT_TRUE(contains(bench.state(), "h0"));
  }
}

TEST(HomeTables, WhatAHomeDoesForARequest) {
  for (const HomeProtocol& protocol : home_protocols()) {
    std::size_t played = 0;
    for (const DocsRow& row :
         docs_table(protocol.document, {"request", "line is shared", "line is exclusive to another"})) {
      if (row.at("grants").empty()) continue;  // below
      for (const std::string& request : split(row.at("request"), '/')) {
        DocsRow each = row;
        each["request"] = request;
        for (const Before before : {Before::kNobody, Before::kShared, Before::kExclusive})
          play_home_row(protocol, each, before, true);
        play_home_row(protocol, each, Before::kExclusive, false);
        ++played;
      }
    }
    EXPECT_GE(played, 6U);
  }
}

// The rows without grants: lines that leave a cache.
TEST(HomeTables, LinesThatLeave) {
  HomeBench write_back(Coherence::kHdmDb);
  for (const std::string kept : {"E", "S", "I"}) {
    write_back.ask(1, "MemRd, SnpInv");
    const auto outcome = write_back.ask(1, "MemWr, no SnpType, keeps " + kept);
    EXPECT_EQ(outcome.answers, std::vector{Opcode::kCmp});
    EXPECT_EQ(write_back.state(), kept == "I" ? "I" : kept + "{h1}");
  }
  for (const HomeProtocol& protocol : home_protocols()) {
    HomeBench bench(protocol.coherence);
    bench.ask(1, protocol.shares);
    bench.ask(2, protocol.shares);
    bench.ask(1, protocol.coherence == Coherence::kHdmH ? "CleanEvict" : "MemClnEvct");
    EXPECT_EQ(bench.state(), "S{h2}");
  }
  HomeBench dirty(Coherence::kHdmH);
  dirty.ask(1, "RdOwn");
  EXPECT_EQ(dirty.ask(1, "DirtyEvict").answers, std::vector{Opcode::kGoWritePull});
  EXPECT_EQ(dirty.state(), "I");
}

}  // namespace
}  // namespace cxloom::test

// The home agent of a host: keeps the caches coherent, of the host and of devices, that hold lines of the
// host's memory, or of memory that devices leave to the host (HDM-H). It speaks CXL.cache with all of them,
// the host's own cache included.
#pragma once

#include <cstdint>
#include <deque>

#include "coherence/home/pulls.hpp"
#include "coherence/home/recalling_agent.hpp"

namespace cxloom {

struct HomeAgentParams : DirectoryParams {
  LineFilterParams filter;  // CXL.cache has no snoops for blocks

  static void describe(Schema<HomeAgentParams>& schema);
  static void estimate(const HomeAgentParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
  }
};

class HomeAgent final : public RecallingAgent {
 public:
  /// To be made when the agents of the device that make requests are there: it stands before them and passes
  /// on what is theirs. `memory`: the agent of the host's own memory; null: it has none.
  HomeAgent(const HomeAgentParams& params, Endpoint& endpoint, const ComponentContext& context,
            const VictimRegistry& victims, Agent* memory);

  Coherence coherence() const override { return Coherence::kHdmH; }
  bool serves_others() const override { return true; }
  void receive(Message& message) override;

  bool pulls(const Message& message) override { return pulls_.of(message) != nullptr; }
  bool awaits(const Message& message) override {
    const HomePull* const pull = pulls_.of(message);
    return pull ? pull->transaction != nullptr : DirectoryAgent::awaits(message);
  }
  Time asked_at(const Message& message) override {
    const HomePull* const pull = pulls_.of(message);
    return pull ? pull->asked_at : DirectoryAgent::asked_at(message);
  }
  void pull_lost(Message& message) override;
  bool may_crash() const override { return true; }
  void failed() override;

 private:
  Channel request_channel() const override { return Channel::kD2HReq; }
  Wish wish_of(const Message& request) const override;
  bool take_notice(Transaction& transaction) override;
  bool take_out_of_turn(Message& /*message*/) override { return false; }
  void address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) override;
  void serve(Transaction& transaction) override;
  void evicted(Transaction& transaction) override;
  void taken_back(Transaction& transaction) override;
  void memory_done(const MemoryAccess& access, const Message& answer) override;

  void answered(Message& message);
  void response(Message& message);
  void data(Message& message);
  void part_of_answer(Snoop& snoop, const Message& message, bool last);
  void pulled(HomePull& pull);
  HomePull& pull_for(Transaction& transaction, const Message& request);
  bool waits_to_pull(Transaction& transaction);
  void pull_line(Transaction& transaction);
  void end_pull(HomePull& pull);
  void written(Transaction& transaction);
  void pull_next();
  /// An entry holds the data of a write until memory has them.
  bool entries_left() const { return pulls_.live() + buffered_ < HomePulls::kMost; }
  void poison_if_kept(LineAddress line);
  static void refuse(Message& request);
  void all_is_here(const Transaction& transaction);
  void note_losses(const MemoryAccess& access, const Message& answer);
  void reply(Transaction& transaction, std::uint16_t hops, bool failed);

  Agent* requester_;  // takes the answers to the host's own requests
  Agent*
      cache_;  // takes what devices ask of the host for their own memory (HDM-D); null: the host has no cache
  HomePulls pulls_;
  std::uint64_t buffered_ = 0;          // writes whose data are in, and not in memory yet
  std::deque<Transaction*> want_pull_;  // for which none is left, in the order in which they came
};

}  // namespace cxloom

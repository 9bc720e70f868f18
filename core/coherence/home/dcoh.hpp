// A coherency agent of a device (DCOH): keeps the caches coherent that hold lines of its memory, its own or
// that of other devices (HDM-DB), by back-invalidate snoops.
#pragma once

#include "coherence/home/recalling_agent.hpp"

namespace cxloom {

struct DcohParams : DirectoryParams {
  SnoopFilterParams filter;

  static void describe(Schema<DcohParams>& schema);
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    DirectoryParams::describe_in(schema);
    describe_timeout(schema);
  }
  static void estimate(const DcohParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
  }
};

class Dcoh : public RecallingAgent {
 public:
  /// Takes what comes from caches, too. `memory` as for DirectoryAgent.
  Dcoh(const DcohParams& params, Endpoint& endpoint, const ComponentContext& context,
       const VictimRegistry& victims, Agent* memory);

  Coherence coherence() const override { return Coherence::kHdmDb; }
  bool serves_others() const override { return !has_memory(); }
  void receive(Message& message) override;

 protected:
  /// For a derived agent, which has `params` and a filter of its own.
  Dcoh(const DirectoryParams& params, const SnoopFilterParams& filter, Endpoint& endpoint,
       const ComponentContext& context, const VictimRegistry& victims, Agent* memory);

  Wish wish_of(const Message& request) const override;
  void address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) override;
  bool take_notice(Transaction& transaction) override;
  bool take_out_of_turn(Message& message) override;

 private:
  Channel request_channel() const override { return Channel::kM2SReq; }
  void serve(Transaction& transaction) override;
  void evicted(Transaction& transaction) override { close(transaction); }
  void memory_done(const MemoryAccess& access, const Message& answer) override;

  void conflict(Message& message);
  void response(Message& message);
  void written_back(Message& message, bool failed);
  void reply(Transaction& transaction, std::uint16_t hops, bool failed);
};

}  // namespace cxloom

// A cache that speaks CXL.mem with the homes of its lines: requests of M2S, and the answers to
// back-invalidate snoops.
#pragma once

#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/params.hpp"
#include "component/endpoint.hpp"

namespace cxloom {

class CxlMemProtocol : public HomeProtocol {
 public:
  /// `agent` sends its messages.
  CxlMemProtocol(Agent& agent, Cache& cache, ReadState read_state)
      : agent_(agent), cache_(cache), reads_any_(read_state == ReadState::kAny) {}

  void ask(CacheTransaction& transaction, Request& request) override;
  void evict(CacheTransaction& transaction, LineState keeps, Time ready) override;
  void receive(Message& message) override;
  bool defers(CacheTransaction& transaction, const CacheSnoop& snoop) override;
  bool forwards_data() const override { return false; }
  void respond(const CacheSnoop& snoop, Time ready) override;

 protected:
  Agent& agent() { return agent_; }
  Cache& cache() { return cache_; }
  static MetaValue meta_of(LineState state);

 private:
  void tell_shared(Message& message, Address line);
  void answered(Message& message);
  void snooped(Message& message);
  void conflict_answered(Message& message);

  Agent& agent_;
  Cache& cache_;
  bool reads_any_;
};

}  // namespace cxloom

// A cache that speaks CXL.cache with the homes of its lines, which are agents of hosts: requests of D2H, and
// the answers to snoops of H2D.
#pragma once

#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/common/answer_order.hpp"
#include "component/endpoint.hpp"

namespace cxloom {

class CxlCacheProtocol final : public HomeProtocol {
 public:
  /// `agent` sends its messages.
  CxlCacheProtocol(Agent& agent, Cache& cache, ReadState read_state)
      : agent_(agent), cache_(cache), reads_any_(read_state == ReadState::kAny) {}

  void ask(CacheTransaction& transaction, Request& request) override;
  void evict(CacheTransaction& transaction, LineState keeps, Time ready) override;
  void receive(Message& message) override;
  void answer_lost(const Message& answer) override { came(answer.source, answer.pushes); }
  bool defers(CacheTransaction& transaction, const CacheSnoop& snoop) override;
  bool forwards_data() const override { return true; }
  void respond(const CacheSnoop& snoop, Time ready) override;
  const AnswerOrder& order() const { return order_; }

 private:
  void came(NodeId home, std::uint32_t number);
  void snooped(Message& message);
  void data_came(Message& message);
  void answered(Message& message);

  Agent& agent_;
  Cache& cache_;
  bool reads_any_;
  AnswerOrder order_;
};

}  // namespace cxloom

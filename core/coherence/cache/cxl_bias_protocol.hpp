// A cache of a host that speaks CXL.mem with a device that keeps its memory coherent by bias (HDM-D): the
// device asks for lines by requests of CXL.cache, and is answered by MemRdFwd.
#pragma once

#include "coherence/cache/cxl_mem_protocol.hpp"
#include "coherence/common/answer_order.hpp"

namespace cxloom {

class CxlBiasProtocol final : public CxlMemProtocol {
 public:
  using CxlMemProtocol::CxlMemProtocol;

  void receive(Message& message) override;
  void answer_lost(const Message& answer) override { came(answer.source, answer.pushes); }
  bool defers(CacheTransaction& transaction, const CacheSnoop& snoop) override;
  void respond(const CacheSnoop& snoop, Time ready) override;
  const AnswerOrder& order() const { return order_; }

 private:
  void came(NodeId home, std::uint32_t number);
  void asked(Message& message);

  AnswerOrder order_;
};

}  // namespace cxloom

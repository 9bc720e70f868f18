// Who watches a coherence protocol at work: the protocol log, and tests that follow the values of lines.
#pragma once

#include <string>

#include "base/units.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class ProtocolObserver {
 public:
  virtual ~ProtocolObserver() = default;

  /// An agent is about to send a message of CXL.mem. Until somebody has handled it the object stays where it is.
  virtual void sent(const Message& /*message*/, Time /*now*/) {}
  /// The agent at `node` has acted on a message that came to it. `before` and `after` say in its words what it knew of the
  /// line; empty where it keeps nothing of lines. The message is as it came.
  virtual void handled(const Message& /*message*/, NodeId /*node*/, Time /*now*/,
                       const std::string& /*before*/, const std::string& /*after*/) {}
  /// A read or write of a requester has taken effect in its cache.
  virtual void performed(NodeId /*node*/, LineAddress /*line*/, AccessKind /*kind*/, Time /*now*/) {}
};

}  // namespace cxloom

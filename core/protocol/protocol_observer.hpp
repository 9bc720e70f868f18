// A watcher of the messages of a protocol: the protocol log, and tests that follow the values of lines.
#pragma once

#include <string>

#include "base/units.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class ProtocolObserver {
 public:
  virtual ~ProtocolObserver() = default;

  /// A device sends a message of its own: it is ready at `at`, which is not before now. Until somebody has
  /// handled it the object stays where it is.
  virtual void sent(const Message& /*message*/, Time /*at*/) {}
  /// A message is lost where something failed. Who waits for it hears of that with an answer that is sent as
  /// any other; who waits for the answer to a snoop, without.
  virtual void lost(const Message& /*message*/) {}
  /// The device at `node` begins to act on a message that came to it. The message is as it came; `state` says
  /// in the words of the agent that acts what it knows of the line, or of each line of a block; empty where
  /// it keeps nothing of lines.
  virtual void handling(const Message& /*message*/, NodeId /*node*/, Time /*now*/,
                        const std::string& /*state*/) {}
  /// A device has acted on the message on which it began last without an end. `state` is the one now.
  virtual void handled(const std::string& /*state*/) {}
  /// An access of a requester has taken effect in its cache.
  virtual void performed(NodeId /*node*/, LineAddress /*line*/, AccessKind /*kind*/, Time /*now*/) {}
};

}  // namespace cxloom

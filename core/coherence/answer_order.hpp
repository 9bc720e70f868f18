// Puts back into order what an agent sent in two classes: a snoop of CXL.cache must not overtake the answers sent before it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class AnswerOrder {
 public:
  /// A snoop has come. False: answers sent before it have not, and it is kept until then.
  bool in_order(Message& snoop) {
    if (snoop.pushes == answers_from(snoop.source)) return true;
    early_.push(snoop);
    return false;
  }
  /// An answer has come from `home`, and has been dealt with: gives back each snoop that waited for it alone.
  template <class Take>
  void answered(NodeId home, Take&& take) {
    const std::uint32_t answers = ++answers_from(home);
    if (early_.empty()) return;
    MessageQueue waiting = std::exchange(early_, {});
    while (!waiting.empty()) {
      Message& snoop = waiting.pop();
      if (snoop.source == home && snoop.pushes == answers) {
        take(snoop);
      } else {
        early_.push(snoop);
      }
    }
  }

 private:
  std::uint32_t& answers_from(NodeId home) {
    if (answers_.size() <= home.index()) answers_.resize(home.index() + 1);
    return answers_[home.index()];
  }

  std::vector<std::uint32_t> answers_;  // that have come, by sender
  MessageQueue early_;
};

}  // namespace cxloom

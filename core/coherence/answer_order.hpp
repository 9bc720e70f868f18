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
    if (reached(answers_from(snoop.source), snoop.pushes)) return true;
    early_.push(snoop);
    return false;
  }
  /// An answer has come from `home`, and has been dealt with: gives back each snoop that waited for it.
  template <class Take>
  void answered(NodeId home, Take&& take) {
    const std::uint32_t answers = ++answers_from(home);
    if (early_.empty()) return;
    MessageQueue waiting = std::exchange(early_, {});
    while (!waiting.empty()) {
      Message& snoop = waiting.pop();
      if (snoop.source == home && reached(answers, snoop.pushes)) {
        take(snoop);
      } else {
        early_.push(snoop);
      }
    }
  }

 private:
  friend struct AgentState;  // as of agents

  // Answers sent after a snoop may overtake it. The counts wrap.
  static bool reached(std::uint32_t answers, std::uint32_t pushes) {
    return static_cast<std::int32_t>(answers - pushes) >= 0;
  }
  std::uint32_t& answers_from(NodeId home) {
    if (answers_.size() <= home.index()) answers_.resize(home.index() + 1);
    return answers_[home.index()];
  }

  std::vector<std::uint32_t> answers_;  // that have come, by sender
  MessageQueue early_;
};

}  // namespace cxloom

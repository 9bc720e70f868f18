// Puts back into order what an agent sent in two classes: a snoop of CXL.cache must not overtake the answers
// sent before it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

/// A home numbers the answers that it sends to a cache (`Message::pushes`). Those to different lines may
/// overtake each other where there are several ways.
class AnswerOrder {
 public:
  struct Answers {
    std::uint32_t all_to = 0;           ///< all up to this number have come,
    std::vector<std::uint32_t> beyond;  ///< and after the next one these
  };

  /// A snoop has come. False: answers sent before it have not, and it is kept until then.
  bool in_order(Message& snoop) {
    if (not_before(answers_from(snoop.source).all_to, snoop.pushes)) return true;
    early_.push(snoop);
    return false;
  }
  /// The answer of that number has come from `home`, and has been dealt with: gives back each snoop that
  /// waited for it.
  template <class Take>
  void answered(NodeId home, std::uint32_t number, Take&& take) {
    Answers& answers = answers_from(home);
    count(answers, number);
    if (early_.empty()) return;
    const std::uint32_t all_to = answers.all_to;
    MessageQueue waiting = std::exchange(early_, {});
    while (!waiting.empty()) {
      Message& snoop = waiting.pop();
      if (snoop.source == home && not_before(all_to, snoop.pushes)) {
        take(snoop);
      } else {
        early_.push(snoop);
      }
    }
  }
  /// The answers that have come, by the node of their home. One without any may be beyond the end.
  const std::vector<Answers>& came() const { return answers_; }
  /// Snoops that wait for answers.
  const MessageQueue& early() const { return early_; }

 private:
  // The numbers wrap.
  static bool not_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }
  static void count(Answers& answers, std::uint32_t number) {
    if (number != answers.all_to + 1) {
      answers.beyond.push_back(number);
      return;
    }
    answers.all_to = number;
    while (!answers.beyond.empty() && std::erase(answers.beyond, answers.all_to + 1) != 0) ++answers.all_to;
  }
  Answers& answers_from(NodeId home) {
    if (answers_.size() <= home.index()) answers_.resize(home.index() + 1);
    return answers_[home.index()];
  }

  std::vector<Answers> answers_;
  MessageQueue early_;
};

}  // namespace cxloom

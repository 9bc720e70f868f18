// Accesses that come from outside while the simulation runs: another simulator, an emulator, a test.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// A stream that may have nothing to give at the moment without being at its end.
class ExternalFeed final : public AccessStream {
 public:
  /// Told of the answer to one access, with the request's account and the time.
  using Answered = std::function<void(const Request& request, Time now)>;

  void push(const Access& access, Answered answered) {
    waiting_.push_back(access);
    answers_.push_back(std::move(answered));
  }
  /// No more accesses will come.
  void close() { open_ = false; }

  bool next(Access& access) override {
    if (waiting_.empty()) return false;
    access = waiting_.front();
    waiting_.pop_front();
    return true;
  }
  bool open() const override { return open_; }
  bool from_outside() const override { return true; }
  bool wants_answers() const override { return true; }
  /// Answers may come in any order; accesses are numbered as they were pushed.
  void answered(std::uint64_t number, const Request& request, Time now) override {
    Answered callback = std::exchange(answers_[number - first_], {});
    if (callback) callback(request, now);
    done_.resize(answers_.size(), false);
    done_[number - first_] = true;
    while (!done_.empty() && done_.front()) {
      done_.pop_front();
      answers_.pop_front();
      ++first_;
    }
  }

 private:
  std::deque<Access> waiting_;
  std::deque<Answered> answers_;  // of the accesses from number `first_` on
  std::deque<bool> done_;
  std::uint64_t first_ = 0;
  bool open_ = true;
};

}  // namespace cxloom

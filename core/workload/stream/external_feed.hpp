// Accesses that come from outside while the simulation runs: another simulator, an emulator, a test.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/stream/fed_block.hpp"

namespace cxloom {

/// A stream that may have nothing to give at the moment without being at its end. Single accesses, in the
/// order in which they came, and each block take turns, an access each; a block that is one access has its
/// turn as a whole.
class ExternalFeed final : public AccessStream {
 public:
  /// Told of the answer to one access, with the request's account and the time.
  using Answered = std::function<void(const Request& request, Time now)>;

  /// `form`: how the device makes blocks.
  explicit ExternalFeed(FedBlock::Form form = {}) : form_(form) {}

  void push(const Access& access, Answered answered) { waiting_.emplace_back(access, std::move(answered)); }
  void push(const BlockOrder& order, FedBlock::Moved moved) {
    giving_.push_back(&blocks_.emplace_back(order, form_, std::move(moved)));
  }
  /// No more accesses will come.
  void close() { open_ = false; }

  bool next(Access& access) override {
    if (waiting_.empty() && giving_.empty()) return false;
    if (turn_ > giving_.size()) turn_ = 0;
    if (turn_ == 0 && waiting_.empty()) turn_ = 1;
    Given& given = given_.emplace_back();
    if (turn_ == 0) {
      access = waiting_.front().first;
      given.answered = std::move(waiting_.front().second);
      waiting_.pop_front();
      ++turn_;
      return true;
    }
    given.block = giving_[turn_ - 1];
    given.block->next(first_ + given_.size() - 1, access);
    if (given.block->all_given()) {
      giving_.erase(giving_.begin() + static_cast<std::ptrdiff_t>(turn_ - 1));
    } else if (!access.continues) {
      ++turn_;
    }
    return true;
  }
  bool open() const override { return open_; }
  bool from_outside() const override { return true; }
  bool wants_answers() const override { return true; }
  /// Answers may come in any order; accesses are numbered as they were given.
  void answered(std::uint64_t number, const Request& request, Time now) override {
    Given& given = given_[number - first_];
    given.done = true;
    const Answered callback = std::exchange(given.answered, {});
    FedBlock* const block = given.block;
    while (!given_.empty() && given_.front().done) {
      given_.pop_front();
      ++first_;
    }
    if (callback) callback(request, now);
    if (block && block->answered(request.failed)) end(block, now);
  }

 private:
  struct Given {
    Answered answered;
    FedBlock* block = nullptr;
    bool done = false;
  };

  void end(FedBlock* block, Time now) {
    std::list<FedBlock> ended;
    const auto is_it = [block](const FedBlock& each) { return &each == block; };
    ended.splice(ended.begin(), blocks_, std::ranges::find_if(blocks_, is_it));
    block->tell(now);
  }

  FedBlock::Form form_;
  std::deque<std::pair<Access, Answered>> waiting_;
  std::list<FedBlock> blocks_;     // that have not ended,
  std::vector<FedBlock*> giving_;  // and those of which not all is given
  std::size_t turn_ = 0;           // of the single accesses, or behind them of a block
  std::deque<Given> given_;        // from access number `first_` on
  std::uint64_t first_ = 0;
  bool open_ = true;
};

}  // namespace cxloom

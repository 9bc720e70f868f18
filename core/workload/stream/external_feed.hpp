// Accesses that come from outside while the simulation runs: another simulator, an emulator, a test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "base/ring.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/fed_block.hpp"
#include "workload/stream/numbered_window.hpp"
#include "workload/stream/tagged_answers.hpp"

namespace cxloom {

/// A stream that may have nothing to give at the moment without being at its end. Single accesses, in the
/// order in which they came, and each block take turns, an access each; a block that is one access has its
/// turn as a whole. An access with a tag allocates nothing once the rings have their size.
class ExternalFeed final : public AccessStream {
 public:
  /// Told of the answer to one access, with the request's account and the time.
  using Answered = std::function<void(const Request& request, Time now)>;

  /// `form`: how the device makes blocks.
  explicit ExternalFeed(FedBlock::Form form = {}) : form_(form) {}

  void push(const Access& access, Answered answered) {
    waiting_.push_back({access, {.tag = keep(std::move(answered)), .kind = Told::Kind::kCallback}});
  }
  /// Its answer goes to `tell_answers`. Its latency begins at `came`, now or before, however full the queue
  /// is.
  void push(const Access& access, std::uint64_t tag, Time came) {
    Access timed = access;
    timed.timed = true;
    timed.timestamp = came;
    waiting_.push_back({timed, {.tag = tag, .kind = Told::Kind::kTag}});
  }
  void push(const BlockOrder& order, FedBlock::Moved moved) {
    giving_.push_back(&blocks_.emplace_back(order, form_, std::move(moved)));
  }
  /// `answers` hears of the answers to accesses with a tag; null: nobody.
  void tell_answers(TaggedAnswers* answers) { answers_ = answers; }
  bool tells_answers() const { return answers_ != nullptr; }
  /// One more will be pushed, at a time that is known.
  void expect() { ++expected_; }
  void came() { --expected_; }
  /// The tag of the access of that number, which is not answered yet; none: it has none.
  std::optional<std::uint64_t> tag_of(std::uint64_t number) const {
    const Told& told = given_[number];
    return told.kind == Told::Kind::kTag ? std::optional(told.tag) : std::nullopt;
  }
  /// No more accesses will come, but those that are expected.
  void close() { open_ = false; }

  bool next(Access& access) override {
    if (waiting_.empty() && giving_.empty()) return false;
    if (turn_ > giving_.size()) turn_ = 0;
    if (turn_ == 0 && waiting_.empty()) turn_ = 1;
    if (turn_ == 0) {
      access = waiting_.front().access;
      given_.add() = waiting_.front().told;
      waiting_.pop_front();
      ++turn_;
      return true;
    }
    FedBlock* const block = giving_[turn_ - 1];
    const std::uint64_t number = given_.next();
    given_.add() = {.block = block, .kind = Told::Kind::kBlock};
    block->next(number, access);
    if (block->all_given()) {
      giving_.erase(giving_.begin() + static_cast<std::ptrdiff_t>(turn_ - 1));
    } else if (!access.continues) {
      ++turn_;
    }
    return true;
  }
  bool open() const override { return open_ || expected_ > 0; }
  bool from_outside() const override { return true; }
  bool wants_answers() const override { return true; }
  /// Answers may come in any order; accesses are numbered as they were given.
  void answered(std::uint64_t number, const Request& request, Time now) override {
    const Told told = given_.done(number);
    switch (told.kind) {
      case Told::Kind::kTag:
        if (answers_) answers_->answered(told.tag, request, now);
        break;
      case Told::Kind::kCallback: call(told.tag, request, now); break;
      case Told::Kind::kBlock:
        if (told.block->answered(request.failed)) end(told.block, now);
        break;
    }
  }

 private:
  /// The one who is told of an answer.
  struct Told {
    enum class Kind : std::uint8_t { kTag, kCallback, kBlock };

    union {
      std::uint64_t tag = 0;  // of who has given it, or the number of its callback
      FedBlock* block;
    };
    Kind kind = Kind::kTag;
    bool done = false;
  };
  struct Waiting {
    Access access;
    Told told;
  };

  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  std::uint64_t keep(Answered answered) {
    if (!answered) return kNobody;
    if (free_callbacks_.empty()) {
      callbacks_.push_back(std::move(answered));
      return callbacks_.size() - 1;
    }
    const std::uint64_t number = free_callbacks_.back();
    free_callbacks_.pop_back();
    callbacks_[number] = std::move(answered);
    return number;
  }

  // It may push more.
  void call(std::uint64_t callback, const Request& request, Time now) {
    if (callback == kNobody) return;
    const Answered answered = std::exchange(callbacks_[callback], {});
    free_callbacks_.push_back(callback);
    answered(request, now);
  }

  void end(FedBlock* block, Time now) {
    std::list<FedBlock> ended;
    const auto is_it = [block](const FedBlock& each) { return &each == block; };
    ended.splice(ended.begin(), blocks_, std::ranges::find_if(blocks_, is_it));
    block->tell(now);
  }

  FedBlock::Form form_;
  Ring<Waiting> waiting_;
  std::list<FedBlock> blocks_;     // that have not ended,
  std::vector<FedBlock*> giving_;  // and those of which not all is given
  std::size_t turn_ = 0;           // of the single accesses, or behind them of a block
  NumberedWindow<Told> given_;
  TaggedAnswers* answers_ = nullptr;
  std::vector<Answered> callbacks_;  // of accesses that wait or are given
  std::vector<std::uint64_t> free_callbacks_;
  std::uint64_t expected_ = 0;  // accesses that are not pushed yet
  bool open_ = true;
};

}  // namespace cxloom

// Credits that ride on the flits of a link end, back to the end at the other side.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "interconnect/wire/credit_line.hpp"
#include "protocol/flit/credit.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Credits that wait for a flit: how many of which classes the next flit can name.
class CreditReturns {
 public:
  explicit CreditReturns(FlitMode mode) : mode_(mode) {}

  /// A buffer of a class is free from `at` on.
  void add(Channel channel, Time at) {
    auto& waiting = waiting_[static_cast<std::size_t>(channel)];
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), at), at);
    classes_ |= 1U << static_cast<unsigned>(channel);
  }
  /// Some credit could go by now.
  bool due(Time now) const {
    for (std::uint32_t rest = classes_; rest != 0; rest &= rest - 1) {
      if (waiting_[static_cast<std::size_t>(std::countr_zero(rest))].front() <= now) return true;
    }
    return false;
  }
  /// The credits that a flit from `now` takes: of one class of each group,
  /// in turns, as many as the field can say. Calls `give(channel, count)`.
  template <class Give>
  void take(Time now, Give give) {
    if (classes_ == 0) return;
    constexpr unsigned kAllGroups = (1U << kCreditGroupCount) - 1;
    unsigned groups = 0;
    for (unsigned step = 0; step < kChannelCount && groups != kAllGroups; ++step) {
      const unsigned index = (turn_ + step) % kChannelCount;
      if ((classes_ >> index & 1U) == 0) continue;
      const auto channel = static_cast<Channel>(index);
      const unsigned group = 1U << static_cast<unsigned>(credit_group(channel));
      if ((groups & group) != 0) continue;
      auto& waiting = waiting_[index];
      const auto free = std::upper_bound(waiting.begin(), waiting.end(), now) - waiting.begin();
      const unsigned count = largest_credit_return(mode_, static_cast<unsigned>(free));
      if (count == 0) continue;
      groups |= group;
      waiting.erase(waiting.begin(), waiting.begin() + count);
      if (waiting.empty()) classes_ &= ~(1U << index);
      give(channel, count);
    }
    turn_ = (turn_ + 1) % kChannelCount;
  }
  /// All of them: calls `give(channel, at)` for each.
  template <class Give>
  void take_all(Give give) {
    for (std::uint32_t rest = classes_; rest != 0; rest &= rest - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(rest));
      for (const Time at : waiting_[index]) give(static_cast<Channel>(index), at);
      waiting_[index].clear();
    }
    classes_ = 0;
  }

 private:
  FlitMode mode_;
  std::array<std::vector<Time>, kChannelCount> waiting_{};  // soonest first
  std::uint32_t classes_ = 0;                               // classes with some, a bit each
  unsigned turn_ = 0;                                       // the class to begin with
};

/// The credits of one link end.
class FlitCredits {
 public:
  explicit FlitCredits(FlitMode mode) : waiting_(mode) {}
  /// None: no class is limited at the other end.
  void connect(CreditLine* far) { far_ = far; }

  /// An answer of this end's own turns back to its owner: it took no buffer.
  void expect_own(Channel which) { ++own_[static_cast<std::size_t>(which)]; }
  /// Whether the buffer of a message that came in is one that the far end counts.
  bool counts(Channel which) {
    std::uint32_t& own = own_[static_cast<std::size_t>(which)];
    if (own > 0) {
      --own;
      return false;
    }
    return far_ && line(which).limited();
  }

  /// A credit leaves with a flit whose last byte is sent at `sent`.
  void give(Channel which, Time sent) { line(which).give(sent); }
  /// It waits for a flit, from `at` on.
  void hold(Channel which, Time at) { waiting_.add(which, at); }
  /// Some that waits could go by now.
  bool due(Time now) const { return waiting_.due(now); }
  /// A flit that starts at `now` and is sent at `sent` takes what it can name.
  void give_some(Time now, Time sent) {
    waiting_.take(now, [&](Channel which, unsigned count) {
      for (unsigned i = 0; i < count; ++i) line(which).give(sent);
    });
  }
  /// Nothing is left to send: empty flits, each of which takes `flit_time`, take them all from `from` on.
  void give_all(Time from, Time flit_time) {
    waiting_.take_all([&](Channel which, Time at) { line(which).give(std::max(at, from) + flit_time); });
  }

 private:
  CreditLine& line(Channel which) const { return far_[static_cast<std::size_t>(which)]; }

  CreditLine* far_ = nullptr;  // by class
  CreditReturns waiting_;
  std::array<std::uint32_t, kChannelCount> own_{};
};

}  // namespace cxloom

// Credits that wait for a flit to take them back to their sender: how many of which classes the next flit can
// name.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "protocol/flit/credit.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

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

}  // namespace cxloom

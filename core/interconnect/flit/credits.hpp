// Credits that ride on the flits of a link end, back to the end at the other side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "interconnect/flit/credit_returns.hpp"
#include "interconnect/wire/credit_line.hpp"

namespace cxloom {

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

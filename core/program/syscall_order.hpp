// The one order in which the threads of a program call the kernel, go on behind their calls, and begin.
#pragma once

#include <cstdint>

namespace cxloom {

/// Each call, end of a call and beginning has the next number; they are told in this order.
class SyscallOrder {
 public:
  /// The ticket of a thread, by which it has its turn: what it tells next may have to wait for others.
  class Ticket {
   public:
    bool is_held() const { return held_ != 0; }
    /// The number whose turn it waits for; 0: none.
    std::uint64_t held() const { return held_; }

   private:
    friend class SyscallOrder;
    std::uint64_t held_ = 0;
  };

  /// A thread comes to that number: true if it may go on. It is asked again otherwise.
  bool is_next(Ticket& ticket, std::uint64_t number) {
    ticket.held_ = number > next_ ? number : 0;
    if (number == next_) ++next_;
    return ticket.held_ == 0;
  }
  /// All that has numbers before this one was told.
  bool is_reached(std::uint64_t number) const { return number <= next_; }
  /// The calls before this number are lost.
  void skip_to(std::uint64_t number) { next_ = number; }

 private:
  std::uint64_t next_ = 1;
};

}  // namespace cxloom

// Which records of a thread have been answered, as far as the order of its instructions tells.
#pragma once

#include <cstdint>
#include <limits>

#include "program/dependence.hpp"

namespace cxloom {

/// Instructions retire in order: the data of a record that is further back than the window is there.
class RetiredRecords {
 public:
  /// `window`, in instructions, is how many may be under way.
  explicit RetiredRecords(std::uint64_t window) : window_(window) {}

  /// The next instruction of the thread begins, or so many of them.
  void begin_instructions(std::uint64_t count = 1) { instructions_ += count; }
  /// The instruction at hand makes a record whose data nobody asks for here.
  void add() { recorded_ = instructions_; }
  /// The thread makes the record of that number. One record is remembered that may be without an answer.
  void add(Producer record) {
    if (up_to() >= marked_) {
      marked_ = record;
      marked_at_ = instructions_;
    }
    add();
  }
  /// The latest record is further back than the window, and so are all others.
  bool all() const { return instructions_ - recorded_ > window_; }
  /// What the thread has read up to that record is there, as it has retired; and perhaps some more.
  Producer up_to() {
    if (all()) return std::numeric_limits<Producer>::max();
    if (instructions_ - marked_at_ > window_) answered_ = marked_;
    return answered_;
  }

 private:
  std::uint64_t window_;
  std::uint64_t instructions_ = 0;  // in all
  std::uint64_t recorded_ = 0;      // of these, up to its last record
  Producer answered_ = 0;           // records up to this one are further back than the window
  Producer marked_ = 0;             // the next of which that will be known
  std::uint64_t marked_at_ = 0;     // instructions up to it
};

}  // namespace cxloom

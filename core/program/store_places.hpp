// Which stores of a thread are in its store buffer, as far as its instructions tell.
#pragma once

#include <cstdint>

#include "base/ring.hpp"
#include "program/dependence.hpp"

namespace cxloom {

/// Each store has a place from when it comes into the window, and stores leave in order, each when its line
/// is there: a store that hits waits behind one that does not. So a store has a place when the one `places`
/// before it has left, which goes by the last record of a store up to that one.
class StorePlaces {
 public:
  explicit StorePlaces(std::uint64_t places) : places_(places) {}

  /// The next store comes: the record without whose answer there is no place for it; 0: no new one. What was
  /// given for a store before it has to be answered, too.
  Producer enter() {
    ++stores_;
    if (waiting_.empty() || stores_ - waiting_.front().store < places_) return 0;
    const Producer record = waiting_.front().record;
    waiting_.pop_front();
    return record;
  }
  /// Whether a store is known to wait for its record, or to have done so.
  bool waits() const { return !waiting_.empty(); }
  /// This store leaves when that record is answered.
  void waits_for(Producer record) { waiting_.push_back({stores_, record}); }

 private:
  struct Waiting {
    std::uint64_t store;
    Producer record;
  };

  std::uint64_t places_;
  std::uint64_t stores_ = 0;  // so far
  Ring<Waiting> waiting_;     // the last `places` stores at most
};

}  // namespace cxloom

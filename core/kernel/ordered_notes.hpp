// What the parts of a divided system note while they run side by side, and is told in the order of the whole
// run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch_owned.hpp"
#include "kernel/event_source.hpp"

namespace cxloom {

/// Each part notes in a thread of its own. Nobody notes at the end of an instant, when requesters and
/// memories do nothing.
template <class Note>
class OrderedNotes {
 public:
  explicit OrderedNotes(std::size_t parts) : parts_(parts) {}

  std::size_t parts() const { return parts_.size(); }
  /// The part notes something in the event at hand, at its place (Kernel::place).
  void note(std::size_t part, const EventPlace& place, const Note& note) {
    std::vector<Noted>& notes = parts_[part].notes;
    notes.push_back({place, note});
    prefetch_owned(&notes.back(), kAhead);  // another thread may have read these lines
  }
  /// What was noted is to be told. Nobody notes meanwhile.
  void gather() {
    for (Part& part : parts_) {
      part.told = 0;
      part.gathered.clear();
      part.gathered.swap(part.notes);
    }
  }
  /// Calls `act(part, note)` for each, in the order of the events.
  template <class Act>
  void tell(const Act& act) {
    for (std::size_t next = first(); next < parts_.size(); next = first()) {
      Part& part = parts_[next];
      act(next, part.gathered[part.told++].note);
    }
  }

 private:
  static constexpr std::size_t kAhead = 4;
  struct Noted {
    EventPlace place;
    Note note;
  };
  struct alignas(128) Part {
    std::vector<Noted> notes;
    std::vector<Noted> gathered;
    std::size_t told = 0;  // of these
  };

  // The part with the first note that is not told; how many there are: all are told.
  std::size_t first() const {
    std::size_t of = parts_.size();
    const Noted* least = nullptr;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].told == parts_[i].gathered.size()) continue;
      const Noted& next = parts_[i].gathered[parts_[i].told];
      if (least && least->place.before(next.place)) continue;
      least = &next;
      of = i;
    }
    return of;
  }

  std::vector<Part> parts_;
};

}  // namespace cxloom

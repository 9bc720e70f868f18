#include "system/crash/recovery_cuts.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

namespace {

// States come again and again while a system runs; states of long ago do not.
constexpr std::size_t kMostKnown = 20'000;

const LineContents& end_of(const DurableState& left, const std::vector<DurableState>& states) {
  return states.empty() ? left.memory : states.back().memory;
}

}  // namespace

RecoveryEnds RecoveryCuts::ends_of(const DurableState& left, const CutChoice& choice) {
  if (left.entries.empty()) return {{left.memory}, 0, {}};
  if (known_.size() > kMostKnown) known_.clear();
  return choice.drawn ? drawn(left, choice) : all(left, choice);
}

RecoveryCuts::Course RecoveryCuts::play(const DurableState& left, const Look& look) const {
  Course course;
  course.took =
      recovery_.play(left, [&](const DurableState& state) { course.states.push_back(state); }, look);
  return course;
}

const RecoveryCuts::Course& RecoveryCuts::known(const DurableState& left, const Look& look) {
  auto key = left.key();
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  return known_.emplace(std::move(key), play(left, look)).first->second;
}

// A recovery depends on the durable state alone: each is looked at once, after as few cuts as lead to it.
RecoveryEnds RecoveryCuts::all(const DurableState& left, const CutChoice& choice) {
  RecoveryEnds ends;
  std::set<std::vector<std::uint64_t>> seen{left.key()};
  std::vector<const DurableState*> now{&left};
  for (std::uint32_t cuts = 0; !now.empty(); ++cuts) {
    std::vector<const DurableState*> next;
    for (const DurableState* from : now) {
      const Course& course = known(*from, choice.look);
      ++ends.recoveries;
      ends.contents.insert(end_of(*from, course.states));
      ends.longest = std::max(ends.longest, course.took);
      if (cuts == choice.depth) continue;
      for (const DurableState& state : course.states) {
        if (state.entries.empty()) {
          ends.contents.insert(state.memory);  // nothing is left to be drained
        } else if (seen.insert(state.key()).second) {
          next.push_back(&state);
        }
      }
    }
    now = std::move(next);
  }
  return ends;
}

RecoveryEnds RecoveryCuts::drawn(const DurableState& left, const CutChoice& choice) const {
  RecoveryEnds ends;
  DurableState from = left;
  for (std::uint32_t cuts = 0; cuts <= choice.depth && !from.entries.empty(); ++cuts) {
    Course course = play(from, choice.look);
    ++ends.recoveries;
    ends.contents.insert(end_of(from, course.states));
    ends.longest = std::max(ends.longest, course.took);
    if (course.states.empty()) break;
    if (cuts == choice.depth) break;
    from = std::move(course.states[choice.drawn->below(course.states.size())]);
    if (from.entries.empty()) ends.contents.insert(from.memory);
  }
  return ends;
}

}  // namespace cxloom

// The memories whose lines leave a persist buffer, as they are taken out of use.
#pragma once

#include <algorithm>
#include <vector>

#include "device/switch/persist_domain.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class EmptiedMemories {
 public:
  void add(NodeId memory, LinesLeaving& leaving) { all_.push_back({memory, &leaving}); }
  void remove(NodeId memory) {
    std::erase_if(all_, [&](const Emptied& each) { return each.memory == memory; });
  }
  bool has(NodeId memory) const {
    return std::ranges::any_of(all_, [&](const Emptied& each) { return each.memory == memory; });
  }
  /// A line of this memory has left the buffer. Whoever hears of it may end the emptying.
  void line_left(NodeId memory) {
    const auto found = std::ranges::find(all_, memory, &Emptied::memory);
    if (found != all_.end()) found->leaving->line_left();
  }

 private:
  struct Emptied {
    NodeId memory;
    LinesLeaving* leaving;
  };
  std::vector<Emptied> all_;
};

}  // namespace cxloom

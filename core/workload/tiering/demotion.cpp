#include "workload/tiering/demotion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cxloom {

std::uint64_t frames_of(const NumaNode& node, double share) {
  return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_of(node.frames))));
}

Demotion::Demotion(const TieringContext& context, std::uint64_t until, Time pause)
    : nodes_(context.nodes), order_(nearest_first(context.nodes)), until_(until), pause_(pause) {}

void Demotion::wake(TieredPages& pages) {
  if (next_ != Time::max()) return;
  next_ = std::max(pages.now(), earliest_);
  pages.look_at(next_);
}

std::uint64_t Demotion::free(const TieredPages& pages) {
  if (pages.moves_waiting() == 0) leaving_.clear();
  std::erase_if(leaving_, [&](std::uint64_t page) { return pages.node_of(page) != order_.front(); });
  return pages.free(order_.front()) + leaving_.size();
}

void Demotion::look(TieredPages& pages) {
  if (pages.now() < next_) return;
  next_ = Time::max();
  earliest_ = pages.now() + pause_;
  std::uint64_t free = this->free(pages);
  const auto next = std::ranges::find_if(order_, [&](std::size_t node) {
    return nodes_[node].distance > nodes_[order_.front()].distance && pages.free(node) > 0;
  });
  if (next == order_.end()) return;
  std::uint64_t room = pages.free(*next);
  const std::uint64_t all = pages.pages();
  for (std::uint64_t seen = 0; seen < all && free < until_ && room > 0; ++seen) {
    if (hand_ >= all) hand_ = 0;
    const std::uint64_t page = hand_++;
    if (pages.is_table(page) || pages.node_of(page) != order_.front()) continue;
    if (pages.accessed(page) || !leaving_.insert(page).second) continue;
    pages.move(page, *next);
    ++free;
    --room;
  }
}

}  // namespace cxloom

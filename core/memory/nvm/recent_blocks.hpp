// The blocks used last: a fully associative buffer that replaces the least recently used one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace cxloom {

class RecentBlocks {
 public:
  explicit RecentBlocks(std::size_t capacity) : capacity_(capacity) { places_.reserve(capacity); }

  /// The memory for each block: nodes of a list and a table, and a bucket, as the C++ library has them.
  static constexpr std::uint64_t kBytesEach = 32 + 48 + 8;

  std::size_t capacity() const { return capacity_; }
  bool holds(std::uint64_t block) const { return places_.contains(block); }
  /// Whether it holds `block`, which counts as a use.
  bool use(std::uint64_t block) {
    const auto found = places_.find(block);
    if (found == places_.end()) return false;
    order_.splice(order_.begin(), order_, found->second);
    return true;
  }
  /// Puts `block`, which is not there, in the place of the one not used for longest.
  void put(std::uint64_t block) {
    if (capacity_ == 0 || use(block)) return;
    if (order_.size() < capacity_) {
      order_.push_front(block);
      places_.emplace(block, order_.begin());
      return;
    }
    order_.splice(order_.begin(), order_, std::prev(order_.end()));  // full: nothing is allocated any more
    auto place = places_.extract(order_.front());
    order_.front() = place.key() = block;
    places_.insert(std::move(place));
  }

 private:
  std::size_t capacity_;
  std::list<std::uint64_t> order_;  // the latest first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

}  // namespace cxloom

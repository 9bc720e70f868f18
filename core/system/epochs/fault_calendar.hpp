// Pages whose next access is a hint fault, by the number of that access: a calendar with a place for each
// stretch of accesses. Eight bytes for each page that waits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace cxloom {

class FaultCalendar {
 public:
  struct Due {
    double accesses = 0;
    std::uint32_t page = 0;
    bool operator>(const Due& other) const {
      return accesses != other.accesses ? accesses > other.accesses : page > other.page;
    }
  };

  /// `width`: accesses of a stretch.
  explicit FaultCalendar(double width) : width_(width) {}

  double width() const { return width_; }
  /// The end of the stretch at hand.
  double end() const { return static_cast<double>(at_ + 1) * width_; }
  void add(const Due& due) {
    const double place = std::floor(due.accesses / width_);
    const double ahead = place - static_cast<double>(at_);
    if (ahead <= 0) {
      soon_.push(due);
      return;
    }
    if (ahead >= static_cast<double>(kPlaces)) {
      later_.push_back(due);
      return;
    }
    const double within = (due.accesses - place * width_) / width_;
    places_[static_cast<std::uint64_t>(place) % kPlaces].push_back(
        {due.page, static_cast<std::uint32_t>(std::min(within * kParts, kParts - 1))});
  }
  /// The next one in the stretch at hand.
  std::optional<Due> first() const {
    if (sorted_.empty()) return soon_.empty() ? std::nullopt : std::optional(soon_.top());
    if (soon_.empty() || soon_.top() > sorted_.back()) return sorted_.back();
    return soon_.top();
  }
  void drop_first() {
    if (sorted_.empty() || (!soon_.empty() && !(soon_.top() > sorted_.back()))) {
      soon_.pop();
    } else {
      sorted_.pop_back();
    }
  }
  /// The stretch at hand is over, and empty.
  void turn() {
    ++at_;
    std::vector<Entry>& place = places_[at_ % kPlaces];
    const double start = static_cast<double>(at_) * width_;
    for (const Entry& each : place)
      sorted_.push_back({start + static_cast<double>(each.part) / kParts * width_, each.page});
    std::vector<Entry>().swap(place);
    std::ranges::sort(sorted_, std::greater{});
    if (at_ % kPlaces != 0) return;
    std::vector<Due> later;
    later.swap(later_);
    for (const Due& each : later) add(each);
  }

 private:
  static constexpr std::uint64_t kPlaces = 4096;
  static constexpr double kParts = 4294967296.0;  // of a stretch
  struct Entry {
    std::uint32_t page;
    std::uint32_t part;
  };

  double width_;
  std::uint64_t at_ = 0;
  std::vector<Due> sorted_;  // of the stretch at hand, the first one last
  std::priority_queue<Due, std::vector<Due>, std::greater<>> soon_;  // that came since it began
  std::array<std::vector<Entry>, kPlaces> places_;
  std::vector<Due> later_;
};

}  // namespace cxloom

#include "system/run/window_forecast.hpp"

#include <algorithm>

#include "device/requester/requester.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void WindowForecast::learn() {
  const auto& requesters = system_.roles().all<Requester>();
  const bool first = issued_.empty();
  std::size_t index = 0;
  std::uint64_t in_all = 0;
  for (const auto& [component, requester] : requesters) {
    const std::uint64_t issued = requester->progress().issued;
    if (first) {
      queue_ = std::max<std::uint64_t>(queue_, requester->traits().queue);
      queues_ += requester->traits().queue;
      issued_.push_back(0);
    }
    const std::uint64_t since = issued - std::exchange(issued_[index++], issued);
    in_all += since;
    most_ = std::max(most_, passed_ > 0 ? (since + passed_ - 1) / passed_ : since);
  }
  most_in_all_ = std::max(most_in_all_, passed_ > 0 ? (in_all + passed_ - 1) / passed_ : in_all);
  passed_ = 0;
}

// Requests that are sure to be issued before it comes, by the requester on which it depends.
std::uint64_t WindowForecast::left(Next next) const {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    if (!requester->has_work()) continue;
    const Requester::Progress progress = requester->progress();
    const std::uint64_t left = next == Next::kAllWarm
                                   ? progress.warmup - std::min(progress.warmup, progress.issued)
                                   : progress.left_at_least;
    least = std::min(least, left);
    most = std::max(most, left);
  }
  return next == Next::kFirstOutOfWork ? least : most;
}

bool WindowForecast::far(Next next) {
  if (next == granted_for_ && passed_ < granted_) return true;
  learn();
  const std::uint64_t in_a_window = kRoom * most_ + queue_ + kMargin;
  granted_for_ = next;
  granted_ = std::min(left(next) / in_a_window, kMostGranted);
  return granted_ > 0;
}

}  // namespace cxloom

#include "system/serving/shared_pipe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "system/serving/serving_time.hpp"

namespace cxloom {

namespace {

constexpr double kPicoseconds = 1e12;

}  // namespace

SharedPipe::SharedPipe(std::uint32_t servers, double each, double together, Time latency)
    : queues_(servers), each_(each), together_(together), latency_(latency) {}

void SharedPipe::begin(Time now, std::uint32_t server, std::uint64_t bytes, std::uint64_t ticket) {
  flow(now);
  if (queues_[server].empty()) ++flows_;
  queues_[server].push_back({static_cast<double>(bytes), ticket});
  flow(now);
}

Time SharedPipe::next() const {
  const Time end = first_end();
  return done_.empty() ? end : std::min(end, done_.front().at);
}

void SharedPipe::advance(Time until, std::vector<std::uint64_t>& done) {
  flow(until);
  while (!done_.empty() && done_.front().at <= until) {
    done.push_back(done_.front().ticket);
    done_.pop_front();
  }
}

Time SharedPipe::estimate(std::uint32_t server, std::uint64_t bytes) const {
  const bool flows = !queues_[server].empty();
  double before = 0;
  for (const Move& move : queues_[server]) before += move.left;
  const double rate = share(flows ? flows_ : flows_ + 1);
  return latency_ + capped_time((before + static_cast<double>(bytes)) / rate);
}

double SharedPipe::share(std::uint64_t flows) const {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  const double own = each_ > 0 ? each_ : kUnlimited;
  return together_ > 0 ? std::min(own, together_ / static_cast<double>(flows)) : own;
}

Time SharedPipe::first_end() const {
  if (flows_ == 0) return Time::max();
  double least = std::numeric_limits<double>::infinity();
  for (const auto& queue : queues_) {
    if (!queue.empty()) least = std::min(least, queue.front().left);
  }
  return now_ + capped_time(std::max(0.0, least) / share(flows_));
}

void SharedPipe::flow(Time until) {
  while (flows_ > 0) {
    const Time end = std::min(first_end(), until);
    const double rate = share(flows_);
    const double bytes = rate * static_cast<double>((end - now_).ps()) / kPicoseconds;
    now_ = end;
    bool ended = false;
    // What is left of a picosecond's bytes is a rounding of the end to whole picoseconds.
    const double rounding = std::max(rate / kPicoseconds, 1e-3);
    for (auto& queue : queues_) {
      if (queue.empty()) continue;
      Move& move = queue.front();
      moved_ += std::isfinite(rate) ? std::min(bytes, move.left) : move.left;
      move.left -= bytes;
      if (std::isfinite(rate) && move.left > rounding) continue;
      moved_ += std::isfinite(rate) ? std::max(0.0, move.left) : 0;
      done_.push_back({now_ + latency_, move.ticket});
      queue.pop_front();
      if (queue.empty()) --flows_;
      ended = true;
    }
    if (!ended && end == until) return;
  }
  now_ = std::max(now_, until);
}

}  // namespace cxloom

#include "kernel/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

void LatencyDistribution::count_in_new_octave(std::uint64_t value) {
  const auto magnitude = static_cast<unsigned>(std::bit_width(value));
  make_room(magnitude > precision_ ? magnitude - precision_ : 0);
  ++counts_[place_of(value)];
}

void LatencyDistribution::make_room(unsigned octave) {
  const unsigned first = octaves_ == 0 ? octave : std::min(octave, first_octave_);
  const unsigned last = octaves_ == 0 ? octave : std::max(octave, first_octave_ + octaves_ - 1);
  std::vector<std::uint64_t> counts(std::size_t{last - first + 1} << precision_);
  if (octaves_ != 0)
    std::ranges::copy(counts_, counts.begin() + (std::ptrdiff_t{first_octave_ - first} << precision_));
  counts_ = std::move(counts);
  first_octave_ = first;
  octaves_ = last - first + 1;
  room_ = counts_.size();
}

void LatencyDistribution::merge(const LatencyDistribution& other) {
  ensure(precision_ == other.precision_, "distributions of two precisions");
  if (other.count_ == 0) return;
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
  count_ += other.count_;
  sum_ += other.sum_;
  make_room(other.first_octave_);
  make_room(other.first_octave_ + other.octaves_ - 1);
  const std::size_t offset = std::size_t{other.first_octave_ - first_octave_} << precision_;
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[offset + i] += other.counts_[i];
}

double LatencyDistribution::mean_ns() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_) / 1000.0;
}

double LatencyDistribution::quantile_ns(double fraction) const {
  if (count_ == 0) return 0.0;
  // The smallest rank that covers the share: the classic nearest-rank definition.
  const double exact = fraction * static_cast<double>(count_);
  auto rank = static_cast<std::uint64_t>(exact);
  if (static_cast<double>(rank) < exact || rank == 0) ++rank;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(middle_of(i) / 1000.0, minimum_.ns(), maximum_.ns());
  }
  return maximum_.ns();
}

double LatencyDistribution::variance() const {
  if (count_ == 0) return 0.0;
  const double mean = static_cast<double>(sum_) / static_cast<double>(count_);
  double squares = 0.0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const double deviation = middle_of(i) - mean;
    squares += static_cast<double>(counts_[i]) * deviation * deviation;
  }
  return squares / static_cast<double>(count_);
}

double LatencyDistribution::middle_of(std::size_t place) const {
  const unsigned octave = first_octave_ + static_cast<unsigned>(place >> precision_);
  const std::uint64_t part = place & ((1ULL << precision_) - 1);
  const unsigned shift = octave == 0 ? 0 : octave - 1;
  const std::uint64_t low = octave == 0 ? part : ((std::uint64_t{1} << precision_) + part) << shift;
  return static_cast<double>(low) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2.0;
}

namespace {

// Levels that have no bucket each have eight an octave.
constexpr std::size_t kExact = LevelMonitor::kExact;

std::size_t level_bucket(std::int64_t level) {
  const auto value = static_cast<std::uint64_t>(level);
  if (value < kExact) return value;
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 5;  // 16..31 is octave 0
  return kExact + octave * 8 + ((value >> (octave + 1)) & 7U);
}

// In the account, where heights below `kOwn` have places of their own.
std::size_t place_of(std::int64_t height) {
  const auto value = static_cast<std::size_t>(height);
  return value < LevelMonitor::kOwn
             ? value
             : LevelMonitor::kOwn + level_bucket(height) - level_bucket(LevelMonitor::kOwn);
}

std::size_t bucket_at(std::size_t place) {
  constexpr std::size_t kOwn = LevelMonitor::kOwn;
  return place < kOwn ? level_bucket(static_cast<std::int64_t>(place)) : level_bucket(kOwn) + place - kOwn;
}

double bucket_level(std::size_t bucket) {
  if (bucket < kExact) return static_cast<double>(bucket);
  const std::size_t octave = (bucket - kExact) / 8;
  const std::uint64_t low = (8 + (bucket - kExact) % 8) << (octave + 1);
  const std::uint64_t width = std::uint64_t{1} << (octave + 1);
  return static_cast<double>(low) + static_cast<double>(width - 1) / 2.0;
}

}  // namespace

[[gnu::noinline]] void LevelMonitor::count_time_elsewhere(std::int32_t height, std::int64_t elapsed) {
  const std::size_t place = place_of(height);
  if (place >= time_at_.size()) time_at_.resize(place + 1, 0);
  time_at_[place] += elapsed;
  if (place < kOwn) return;
  shared_integral_ += static_cast<double>(height) * static_cast<double>(elapsed);
  shared_maximum_ = std::max(shared_maximum_, height);
}

[[gnu::noinline]] void LevelMonitor::make_room(std::int64_t height) {
  time_at_.resize(static_cast<std::size_t>(height) + 1, 0);
}

void LevelMonitor::open(Time at) {
  advance(at);
  last_ = changed_ = at;  // it may have been closed
  held_ = level_;
  closed_ = false;
  opened_ = at;
  shared_integral_ = 0.0;
  time_at_.clear();
  shared_maximum_ = 0;
}

double LevelMonitor::integral() const {
  double sum = shared_integral_ + static_cast<double>(held_) * static_cast<double>(held_for());
  for (std::size_t height = 1; height < own_heights(); ++height)
    sum += static_cast<double>(height) * static_cast<double>(time_at_[height]);
  return sum;
}

double LevelMonitor::maximum() const {
  std::int32_t highest = held_for() > 0 ? std::max(held_, shared_maximum_) : shared_maximum_;
  for (auto height = static_cast<std::int32_t>(own_heights()) - 1; height > highest; --height)
    if (time_at_[static_cast<std::size_t>(height)] != 0) highest = height;
  return static_cast<double>(highest);
}

double LevelMonitor::mean() const { return length() > 0 ? integral() / static_cast<double>(length()) : 0.0; }

double LevelMonitor::quantile(double fraction) const {
  std::vector<std::int64_t> times(bucket_at(std::max<std::size_t>(time_at_.size(), 1) - 1) + 1, 0);
  for (std::size_t place = 1; place < time_at_.size(); ++place) times[bucket_at(place)] += time_at_[place];
  if (held_ != 0 && held_for() > 0) {
    const std::size_t bucket = level_bucket(held_);
    if (bucket >= times.size()) times.resize(bucket + 1, 0);
    times[bucket] += held_for();
  }
  std::int64_t above_zero = 0;
  for (std::size_t bucket = 1; bucket < times.size(); ++bucket) above_zero += times[bucket];
  double seen = static_cast<double>(length() - above_zero);
  const double wanted = fraction * static_cast<double>(length());
  if (seen >= wanted) return 0.0;
  for (std::size_t bucket = 1; bucket < times.size(); ++bucket) {
    seen += static_cast<double>(times[bucket]);
    if (seen >= wanted) return std::min(bucket_level(bucket), maximum());
  }
  return maximum();
}

}  // namespace cxloom

#include "results/mix_windows.hpp"

#include <algorithm>

namespace cxloom {

bool MixWindows::advance(Time now) {
  if (!begun_) {
    begun_ = true;
    first_ = last_ = now;
  }
  if (now == first_) return false;
  if (now > last_ && requests_ >= length_) close(last_);
  last_ = now;
  return true;
}

void MixWindows::close(Time now) {
  const double reads = static_cast<double>(reads_) / static_cast<double>(requests_);
  const double mix = std::min(reads, 1.0 - reads);
  const double bandwidth = static_cast<double>(bytes_) / (now - first_).ns();
  ++windows_;
  const auto count = static_cast<double>(windows_);
  const double from_mix = mix - mix_;
  const double from_bandwidth = bandwidth - bandwidth_;
  mix_ += from_mix / count;
  bandwidth_ += from_bandwidth / count;
  mix_mix_ += from_mix * (mix - mix_);
  mix_bandwidth_ += from_mix * (bandwidth - bandwidth_);
  bandwidth_bandwidth_ += from_bandwidth * (bandwidth - bandwidth_);
  first_ = now;
  requests_ = reads_ = bytes_ = 0;
}

MixWindows MixWindows::of_part() const {
  MixWindows part(length_);
  part.notes_ = true;
  return part;
}

void MixWindows::note(const Moment& moment) {
  if (moments_.empty() || moments_.back().at < moment.at) {
    moments_.push_back(moment);
    return;
  }
  moments_.back().bytes += moment.bytes;
  moments_.back().requests += moment.requests;
  moments_.back().reads += moment.reads;
}

void MixWindows::take(std::span<MixWindows* const> parts) {
  std::vector<Moment> all;
  for (MixWindows* const part : parts) {
    all.insert(all.end(), part->moments_.begin(), part->moments_.end());
    part->moments_.clear();
  }
  std::ranges::sort(all, {}, &Moment::at);
  for (const Moment& moment : all) add(moment);
}

// The last window counts if it is whole.
Value MixWindows::report() const {
  MixWindows all = *this;
  if (all.requests_ >= length_ && all.last_ > all.first_) all.close(all.last_);
  const auto known = [](bool is, double value) { return is ? Value(value) : Value(); };
  const bool any = all.windows_ > 0;
  const bool mixes = all.mix_mix_ > 0;
  return map_of(kMixMeasures, {.windows = all.windows_,
                               .mix = known(any, all.mix_),
                               .bandwidth = known(any, all.bandwidth_),
                               .slope = known(mixes, all.mix_bandwidth_ / all.mix_mix_),
                               .determination = known(mixes && all.bandwidth_bandwidth_ > 0,
                                                      all.mix_bandwidth_ * all.mix_bandwidth_ /
                                                          (all.mix_mix_ * all.bandwidth_bandwidth_))});
}

}  // namespace cxloom

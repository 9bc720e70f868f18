#include "workload/placement/frame_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/random.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t mask_of(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

Shuffle::Shuffle(std::uint64_t count, std::uint64_t key) : count_(count) {
  const auto bits = static_cast<unsigned>(std::bit_width(count > 0 ? count - 1 : 0));
  low_bits_ = bits / 2;
  low_mask_ = mask_of(low_bits_);
  high_mask_ = mask_of(bits - low_bits_);
  for (std::uint64_t& each : keys_) each = key = mix_bits(key);
}

// Each round changes one half by the other, which is left as it is: so it can be undone, and no two numbers
// become one.
std::uint64_t Shuffle::permuted(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (unsigned round = 0; round < kRounds; round += 2) {
    high ^= mix_bits(low ^ keys_[round]) & high_mask_;
    low ^= mix_bits(high ^ keys_[round + 1]) & low_mask_;
  }
  return high << low_bits_ | low;
}

FrameOrder::FrameOrder(Frames frames, Bytes page, std::optional<std::uint64_t> key)
    : frames_(std::move(frames)), page_(page.count()), count_(count_of(frames_)) {
  if (key) shuffle_.emplace(count_, *key);
}

std::optional<Address> FrameOrder::frame_at(Address address) const {
  for (const FrameRun& run : frames_) {
    const std::uint64_t frame = (address.value() - run.base.value()) / page_;
    if (address >= run.base && frame < run.count) return Address{run.base.value() + frame * page_};
  }
  return std::nullopt;
}

FrameOrder::Frame FrameOrder::at(std::uint64_t place, std::uint64_t end) const {
  std::uint64_t frame = shuffle_ ? shuffle_->at(place) : place;
  auto run = frames_.begin();
  for (; frame >= run->count; ++run) frame -= run->count;
  // In an order without a pattern the frame behind is somebody else's.
  const std::uint64_t follow = shuffle_ ? 1 : std::min(run->count - frame, end - place);
  return {Address{run->base.value() + frame * page_}, follow * page_};
}

}  // namespace cxloom

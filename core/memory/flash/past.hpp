// The past of flash: every page of each plane is overwritten so many times on average, at random, before the
// run.
//
// Where the pages lie soon depends on nothing that was before: after n times a share of e^-n of them still
// lies where it was filled in. So the first kPlayed times are played, and what more there was only wears the
// blocks, as fast as the second half of these did.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "memory/flash/plane.hpp"
#include "memory/media/past.hpp"

namespace cxloom {

class FlashPast final : public MediaPast {
 public:
  /// e^-8 is 0.03 %.
  static constexpr double kPlayed = 8.0;

  /// `planes` have `logical` pages each, and outlive this.
  FlashPast(const std::vector<std::unique_ptr<FlashPlane>>& planes, std::uint32_t logical, double overwritten,
            RandomStream random);

  std::uint64_t left() const override { return (planes_.size() - plane_) * writes_ - written_; }
  void play(std::uint64_t steps) override;
  void leave_out() override { plane_ = planes_.size(), written_ = 0; }

 private:
  void wear();

  const std::vector<std::unique_ptr<FlashPlane>>& planes_;
  std::uint64_t writes_;  // that are played, of a plane
  std::uint64_t half_;    // of them
  double beyond_;         // writes that are not, for each of the second half
  RandomStream random_;
  std::size_t plane_ = 0;             // at work
  std::uint64_t written_ = 0;         // of it
  std::uint64_t erased_by_half_ = 0;  // of its blocks
};

}  // namespace cxloom

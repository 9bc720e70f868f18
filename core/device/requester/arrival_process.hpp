// When the accesses of an open loop become ready: at a rate, equally spaced or at random, or at times of
// their own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/random.hpp"
#include "base/units.hpp"
#include "workload/work.hpp"

namespace cxloom {

class ArrivalProcess {
 public:
  ArrivalProcess(std::uint64_t seed, const std::string& component) : random_(seed, component, "arrivals") {}

  void begin(const Work& work) {
    meter_ = RateMeter(work.rate);
    arrivals_ = work.arrivals;
    open_loop_ = work.timestamps || !meter_.rate().unlimited();
    if (arrivals_ == Arrivals::kPoisson) next_ = after(Time{});
  }
  /// False: accesses exist when they take their queue slot.
  bool open_loop() const { return open_loop_; }
  /// When the next access becomes ready.
  Time next() const { return next_; }
  /// It does so at its own time, or at that of the one before if that is later.
  void at_timestamp(Time timestamp) { next_ = std::max(next_, timestamp); }
  /// It has been made: the one after it comes.
  void advance() {
    if (!meter_.rate().unlimited()) next_ = after(next_);
  }

 private:
  Time after(Time previous) {
    if (arrivals_ == Arrivals::kFixed) return previous + meter_.advance(1);
    const Rate& rate = meter_.rate();
    const double mean = static_cast<double>(rate.numerator()) / static_cast<double>(rate.denominator());
    return previous + Time{std::llround(random_.exponential() * mean)};
  }

  RandomStream random_;
  RateMeter meter_;
  Arrivals arrivals_ = Arrivals::kFixed;
  bool open_loop_ = false;
  Time next_;
};

}  // namespace cxloom

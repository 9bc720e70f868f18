// Windows of so many requests, in the order in which they complete: how the bandwidth follows the mix of
// reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/measure_table.hpp"
#include "base/units.hpp"

namespace cxloom {

/// Means over the windows, and the straight line through their bandwidths; null below two windows, and where
/// all have the same mix.
struct MixMeasured {
  std::uint64_t windows = 0;
  Value mix;
  Value bandwidth;
  Value slope;
  Value determination;
};

inline constexpr std::array kMixMeasures{
    measure<&MixMeasured::windows>(
        "windows", "",
        "windows of `outputs.mix_windows` requests one after the other, from the first "
        "completion on; what completes at one instant stays together"),
    measure<&MixMeasured::mix>("mix_degree", "",
                               "mean over the windows of the smaller of the shares of reads and of writes"),
    measure<&MixMeasured::bandwidth>(
        "bandwidth_gb_per_s", "GB/s",
        "mean over the windows of the bytes that their requests exchanged with memory / "
        "length of the window; write-backs and prefetches of caches do not count"),
    measure<&MixMeasured::slope>(
        "slope_gb_per_s", "GB/s",
        "by how much the bandwidth of a window rises with its mix degree, for a mix degree "
        "of 1: least squares"),
    measure<&MixMeasured::determination>(
        "determination", "", "share of the variance of the bandwidth that this line explains (r squared)"),
};

class MixWindows {
 public:
  /// Windows of at least `length` requests each; 0: none.
  explicit MixWindows(std::uint64_t length) : length_(length) {}

  bool kept() const { return length_ > 0; }
  /// Bytes came or went for a request, at a time that never decreases.
  void moved(Time now, std::uint64_t bytes) { add({now, bytes, 0, 0}); }
  /// A request completed.
  void completed(Time now, bool reads) { add({now, 0, 1, reads ? 1U : 0U}); }
  Value report() const;

  /// What a part of a divided run keeps for these: what happened at which instant. Within an instant no order
  /// matters.
  MixWindows of_part() const;
  /// Takes over what parts have kept. All have come as far.
  void take(std::span<MixWindows* const> parts);

 private:
  struct Moment {
    Time at;
    std::uint64_t bytes;
    std::uint64_t requests;
    std::uint64_t reads;
  };

  void add(const Moment& moment) {
    if (notes_) {
      note(moment);
    } else if (advance(moment.at)) {
      bytes_ += moment.bytes;
      requests_ += moment.requests;
      reads_ += moment.reads;
    }
  }
  void note(const Moment& moment);
  // False at the very first instant, where no window has begun: what came before it is not known.
  bool advance(Time now);
  void close(Time now);

  std::uint64_t length_;
  bool notes_ = false;  // it is that of a part
  std::vector<Moment> moments_;
  bool begun_ = false;
  Time first_;  // the window is from here, without what completed then, ...
  Time last_;   // ... to here
  std::uint64_t requests_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t bytes_ = 0;

  std::uint64_t windows_ = 0;
  // Means, and sums of products of what differs from them, updated window by window (Welford).
  double mix_ = 0;
  double bandwidth_ = 0;
  double mix_mix_ = 0;
  double mix_bandwidth_ = 0;
  double bandwidth_bandwidth_ = 0;
};

}  // namespace cxloom

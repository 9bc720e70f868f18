// How well a mean is known, and whether its quantity kept its level: by the means of batches, in constant
// memory.
//
// Entries that follow each other depend on each other (requests wait in the same queue), so the scatter of
// single entries says little about that of their mean. The means of long batches of them are nearly
// independent (A. M. Law, Simulation Modeling and Analysis, ch. 9.5). docs/model/results.md has the method
// and what was measured of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// The upper quantile of Student's t of 97.5 % (for a two-sided 95 %) or 99.5 %, from three degrees of
/// freedom on.
enum class Confidence : std::uint8_t { k95, k99 };
double student_t(Confidence confidence, double degrees);

class BatchMeans {
 public:
  /// Fewer entries do not show how they depend on each other.
  static constexpr std::uint64_t kFewest = 1000;

  /// Batches are of equal length. When there are `most` of them, a power of two, they merge in pairs. 0: no
  /// batches at all.
  explicit BatchMeans(std::size_t most) : most_(most), next_(most > 0 ? 1 : 0) {}

  /// The number of entries with which the next batch is full; zero if there are no batches.
  std::uint64_t next() const { return next_; }
  /// A batch is full at `now`; `sum` is that of all entries so far, and `moved` are the bytes of all.
  void close(Wide sum, std::uint64_t moved, Time now);

  /// The mean of all entries lies within `mean +- half_width`, with 95 % confidence.
  struct Precision {
    double half_width = 0.0;
    bool independent =
        false;  ///< the batches were long enough to be; otherwise it allows for what they have in common
    /// The variance of the mean, by batches of the length that makes it greatest. Longer ones scatter less
    /// where what came late is made up for, as in a closed loop.
    double most_variance = 0.0;
  };
  /// `entries` is how many there are, those behind the last full batch among them. None with fewer than
  /// `kFewest`.
  std::optional<Precision> precision(std::uint64_t entries) const;

  struct Interval {
    double low = 0.0;
    double high = 0.0;
  };
  /// The 95 % interval of a bandwidth, by the times that batches of so many entries took and what they moved.
  /// None with fewer than `kFewest`, or where batches take no time or move nothing.
  std::optional<Interval> rate_interval(double rate, std::uint64_t entries) const;
  /// Around a positive number of which half of the interval is `half_width`: it is that of the logarithm, for
  /// what is known of such a number is a part of it.
  static Interval around(double number, double half_width);

  struct Halves {
    double first = 0.0;
    double second = 0.0;
    bool differ =
        false;  ///< by more than chance explains once in a hundred times, and by more than a hundredth
  };
  /// The means of the first and second half of so many entries. None with fewer than `kFewest`.
  std::optional<Halves> halves(std::uint64_t entries) const;

 private:
  std::vector<double> means() const;

  std::size_t most_;
  std::uint64_t next_;
  std::uint64_t length_ = 1;          // entries per batch
  std::vector<Wide> sums_;            // of all entries up to the end of each batch
  std::vector<Time> ends_;            // of the batches
  std::vector<std::uint64_t> moved_;  // bytes up to the end of each
};

}  // namespace cxloom

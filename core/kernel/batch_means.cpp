#include "kernel/batch_means.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace cxloom {

namespace {

// Batches count as independent if a one-sided test of their correlation at 20 % says so (as in A. Tafazzoli
// et al., Skart, INFORMS J. Comput. 23, 2011): the normal quantile of 80 %.
constexpr double kAcceptable = 0.8416;
constexpr double kMostCorrelated = 0.95;
constexpr double kFewestDegrees = 3.0;

// The interval is judged with fewer batches than kManyBatches at first, and with kFewBatches at least.
constexpr std::size_t kManyBatches = 64;
constexpr std::size_t kFewBatches = 16;

// A correlation that lasts longer than the batches shows in the scatter of few long ones, of which Student's
// t has the doubt. Schmeiser (Operations Research 30, 1982) found 10 to 30 batches enough; these are fewer,
// as they are beside others.
constexpr std::size_t kSections = 8;

// The test of halves: parts with a level of their own each, and batches in each at least.
constexpr std::size_t kParts = 8;
constexpr std::size_t kFewInPart = 16;
constexpr double kOutlier =
    10.0;  // a part that scatters so many times more than any other holds a change of level
constexpr double kWorthSaying = 0.01;  // difference of the halves / mean

void merge_pairs(std::vector<double>& means) {
  const std::size_t pairs = means.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) means[i] = (means[2 * i] + means[2 * i + 1]) / 2.0;
  means.resize(pairs);
}

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Squares of the deviations from the mean, and products of neighbouring ones.
struct Scatter {
  double squares = 0.0;
  double products = 0.0;
};

Scatter scatter_of(std::span<const double> values) {
  const double mean = mean_of(values);
  Scatter scatter;
  double before = 0.0;
  for (const double value : values) {
    const double deviation = value - mean;
    scatter.squares += deviation * deviation;
    scatter.products += deviation * before;
    before = deviation;
  }
  return scatter;
}

/// Batches that pass the test have a correlation that is too small to be seen: `kSuspected` takes the
/// estimate for true.
enum class Correlation : std::uint8_t { kProven, kSuspected };

/// What `batches` of them in groups of `group`, each with a mean of its own, say about the scatter of a mean
/// of many.
struct Estimate {
  double variance = 0.0;  ///< of a batch, with what neighbours have in common
  double degrees = 0.0;   ///< of freedom
  bool independent = false;
};

Estimate estimate(const Scatter& scatter, std::size_t batches, std::size_t group,
                  Correlation correlated = Correlation::kProven) {
  const auto all = static_cast<double>(batches);
  const auto each = static_cast<double>(group);
  const double means = all / each;
  if (scatter.squares == 0.0) return {0.0, all - means, true};
  // Deviations from their own mean have a correlation of -1 / group although the batches are independent.
  const double correlation = scatter.products / scatter.squares + 1.0 / each;
  Estimate found{scatter.squares / (all - means), all - means, correlation * std::sqrt(all) < kAcceptable};
  if (found.independent && correlated == Correlation::kProven) return found;
  // The batches are a first-order autoregressive process, whose estimate is too low by 3 / group of itself.
  const double phi = std::clamp(correlation / (1.0 - 3.0 / each), 0.0, kMostCorrelated);
  const double excess = (1.0 + phi) / (1.0 - phi);
  found.variance *= excess;
  found.degrees = std::max(kFewestDegrees, all / excess - means);
  return found;
}

std::vector<double> sections_of(std::span<const double> batches) {
  const std::size_t length = batches.size() / kSections;
  std::vector<double> sections;
  for (std::size_t left = kSections; left > 0; --left)
    sections.push_back(mean_of(batches.subspan(batches.size() - left * length, length)));
  return sections;
}

/// The interval of the mean of `batches`: the wider one of that of so many of them that they seem
/// independent, and that of a few sections.
BatchMeans::Precision precision_of(std::vector<double> batches) {
  const std::vector<double> sections = sections_of(batches);
  double most = 0.0;
  const auto by_scatter = [](std::span<const double> values) {
    const auto count = static_cast<double>(values.size());
    return scatter_of(values).squares / (count * (count - 1.0));
  };
  while (batches.size() >= kManyBatches) {
    most = std::max(most, by_scatter(batches));
    merge_pairs(batches);
  }
  most = std::max(most, by_scatter(batches));
  const auto judged = [&] {
    return estimate(scatter_of(batches), batches.size(), batches.size(), Correlation::kSuspected);
  };
  Estimate found = judged();
  while (!found.independent && batches.size() / 2 >= kFewBatches) {
    merge_pairs(batches);
    found = judged();
  }
  const auto half_width = [](double degrees, double variance) {
    return student_t(Confidence::k95, degrees) * std::sqrt(variance);
  };
  const double by_batches = found.variance / static_cast<double>(batches.size());
  const double by_sections = by_scatter(sections);
  return {
      .half_width = std::max(half_width(found.degrees, by_batches), half_width(kSections - 1, by_sections)),
      .independent = found.independent,
      .most_variance = std::max({most, by_batches, by_sections})};
}

}  // namespace

// Cornish and Fisher's expansion (Abramowitz and Stegun, 26.7.5): within 1 % from three degrees of freedom
// on, by arithmetic that gives the same bits everywhere.
double student_t(Confidence confidence, double degrees) {
  const double z = confidence == Confidence::k95 ? 1.959963984540054 : 2.575829303548901;
  const double z2 = z * z;
  const double g1 = (z2 + 1.0) / 4.0;
  const double g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
  const double g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
  const double g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
  const double d = 1.0 / degrees;
  return z * (1.0 + d * (g1 + d * (g2 + d * (g3 + d * g4))));
}

void BatchMeans::close(Wide sum, std::uint64_t moved, Time now) {
  sums_.push_back(sum);
  ends_.push_back(now);
  moved_.push_back(moved);
  if (sums_.size() == most_) {
    for (std::size_t i = 0; i < most_ / 2; ++i) {
      sums_[i] = sums_[2 * i + 1];
      ends_[i] = ends_[2 * i + 1];
      moved_[i] = moved_[2 * i + 1];
    }
    sums_.resize(most_ / 2);
    ends_.resize(most_ / 2);
    moved_.resize(most_ / 2);
    length_ *= 2;
  }
  next_ += length_;
}

std::vector<double> BatchMeans::means() const {
  std::vector<double> means;
  means.reserve(sums_.size());
  Wide before = 0;
  for (const Wide sum : sums_) {
    means.push_back(static_cast<double>(sum - before) / static_cast<double>(length_));
    before = sum;
  }
  return means;
}

std::optional<BatchMeans::Precision> BatchMeans::precision(std::uint64_t entries) const {
  if (entries < kFewest || sums_.empty()) return std::nullopt;
  return precision_of(means());
}

// A bandwidth is the ratio of bytes to time, and the doubt of a ratio that of bytes - ratio x time (A. M.
// Law, Simulation Modeling and Analysis, ch. 9.5.3): hits in a cache move nothing, and accesses differ in
// size. When the first batch began is known to nobody here.
std::optional<BatchMeans::Interval> BatchMeans::rate_interval(double rate, std::uint64_t entries) const {
  if (entries < kFewest || ends_.size() < 2) return std::nullopt;
  const auto bytes = static_cast<double>(moved_.back() - moved_.front());
  const auto time = static_cast<double>((ends_.back() - ends_.front()).ps());
  if (bytes <= 0.0 || time <= 0.0) return std::nullopt;
  std::vector<double> rests;
  rests.reserve(ends_.size() - 1);
  for (std::size_t i = 1; i < ends_.size(); ++i) {
    const auto took = static_cast<double>((ends_[i] - ends_[i - 1]).ps());
    rests.push_back(static_cast<double>(moved_[i] - moved_[i - 1]) - bytes / time * took);
  }
  const double a_batch = bytes / static_cast<double>(rests.size());
  return around(rate, rate * precision_of(std::move(rests)).half_width / a_batch);
}

BatchMeans::Interval BatchMeans::around(double number, double half_width) {
  if (number <= 0.0) return {number, number};
  const double factor = std::exp(half_width / number);
  return {number / factor, number * factor};
}

std::optional<BatchMeans::Halves> BatchMeans::halves(std::uint64_t entries) const {
  if (entries < kFewest || sums_.empty()) return std::nullopt;
  std::vector<double> batches = means();
  Halves halves;
  Estimate found;
  std::size_t in_part = 0;
  do {
    if (in_part > 0) merge_pairs(batches);
    in_part = batches.size() / kParts;
    std::vector<Scatter> parts;
    for (std::size_t i = 0; i < kParts; ++i) {
      parts.push_back(scatter_of(std::span(batches).subspan(i * in_part, in_part)));
    }
    std::ranges::sort(parts, {}, &Scatter::squares);
    if (parts[kParts - 1].squares > kOutlier * parts[kParts - 2].squares) parts.pop_back();
    Scatter all;
    for (const Scatter& part : parts) {
      all.squares += part.squares;
      all.products += part.products;
    }
    found = estimate(all, parts.size() * in_part, in_part);
  } while (!found.independent && batches.size() / 2 / kParts >= kFewInPart);
  const std::size_t half = kParts / 2 * in_part;
  halves.first = mean_of(std::span(batches).first(half));
  halves.second = mean_of(std::span(batches).subspan(half, half));
  const double difference = std::abs(halves.second - halves.first);
  const double expected = std::sqrt(2.0 * found.variance / static_cast<double>(half));
  halves.differ = difference > student_t(Confidence::k99, found.degrees) * expected &&
                  difference > kWorthSaying * mean_of(batches);
  return halves;
}

}  // namespace cxloom

#include "system/tasks/rate_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernel/batch_means.hpp"
#include "memory/dram/controller/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// A common cycle is no longer than so many of the longest: lines of it are simulated before and behind.
constexpr std::int64_t kMostInCommon = 4;

}  // namespace

RefreshCycle refresh_cycle_of(const System& system) {
  std::vector<DramMedia::Refreshes> all;
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    Media* const media = owner->media();
    if (!media) continue;
    each_medium(*media, [&](Media& medium) {
      const DramMedia* const dram = medium.dram();
      if (dram != &medium) return;
      if (const auto refreshes = dram->refreshes()) all.push_back(*refreshes);
    });
  }
  RefreshCycle cycle;
  for (const DramMedia::Refreshes& each : all) {
    cycle.length = std::max(cycle.length, each.cycle);
    cycle.longest = std::max(cycle.longest, each.duration);
  }
  const Time most{cycle.length.ps() * kMostInCommon};
  for (const DramMedia::Refreshes& each : all) {
    const Time common{std::lcm(cycle.length.ps(), each.cycle.ps())};
    if (common <= most) cycle.length = common;
    else cycle.out_of_step += each.duration;
  }
  return cycle;
}

namespace {

constexpr std::int64_t kBatches = 20;
// A window with an error above it is lengthened, twofold each time.
constexpr double kLargestError = 0.005;
// Batches whose scatter tells the error.
constexpr std::size_t kLongBatches = 5;
// Parts of a window until its rates are steady.
constexpr std::int64_t kSettling = 5;
// Lines of each activity in a window, at least, and batches in which it moved some.
constexpr std::uint64_t kFewestLines = 1000;
constexpr std::size_t kFewestBatches = 8;

// A batch with a refresh more than another says nothing about its rate.
Time period_of(Time window, const RefreshCycle& refreshes) {
  constexpr auto kLong = static_cast<std::int64_t>(kLongBatches);
  const std::int64_t all = kLong * refreshes.length.ps();
  const std::int64_t cycles = all > 0 ? (window.ps() + all / 2) / all : 0;
  const std::int64_t length = cycles > 0 ? cycles * all : window.ps();
  return Time{std::max<std::int64_t>(1, length / kBatches)};
}

}  // namespace

RateSampler::RateSampler(Time window, RefreshCycle refreshes)
    : refreshes_(refreshes), period_(period_of(window, refreshes)), settle_(period_ * kSettling) {}

void RateSampler::begin(Time now, std::vector<Activity*> activities) {
  activities_ = std::move(activities);
  all_move_ = false;
  key_.clear();
  restart(now);
}

void RateSampler::restart(Time now) {
  snapshots_.clear();
  uncertain_ = {};
  stride_ = 1;
  next_look_ = activities_.empty() ? Time::max() : now + settle_;
}

// Activities of one sort are as good as each other.
std::string RateSampler::sorts_now(std::vector<std::string>& sorts) const {
  for (const Activity* each : activities_) sorts.push_back(each->sort());
  std::vector<std::string> sorted = sorts;
  std::ranges::sort(sorted);
  std::string key;
  for (const std::string& each : sorted) key += each + "; ";
  return key;
}

Time RateSampler::look(Time now, Time most) {
  if (now < next_look_) return {};
  next_look_ = now + period_ * stride_;
  // A launch, or the way of the first line, is no part of a steady rate.
  if (!all_move_) {
    all_move_ = std::ranges::all_of(activities_, [](Activity* each) { return each->progress().done > 0; });
    restart(now);
    return {};
  }
  std::vector<std::string> sorts;
  std::string key = sorts_now(sorts);
  // What is on its way to the memories before is no part of the rate of those behind.
  const std::string before = std::exchange(key_, key);
  if (!before.empty() && before != key) {
    restart(now);
    return {};
  }
  auto known = windows_.find(key);
  if (known == windows_.end()) {
    Snapshot& snapshot = snapshots_.emplace_back();
    for (Activity* each : activities_) snapshot.push_back(each->progress());
    RateWindow found;
    if (!measured(sorts, found)) {
      if (found.rates.size() == sorts.size()) uncertain_ = std::move(found);
      if (snapshots_.size() > 2 * kBatches) thin();
      return {};
    }
    known = windows_.emplace(std::move(key), std::move(found)).first;
  }
  const Time skipped = skip(known->second, most);
  restart(now);
  return skipped;
}

// Every second is kept, so that a long window costs no more than a short one.
void RateSampler::thin() {
  for (std::size_t i = 1; 2 * i < snapshots_.size(); ++i) {
    const Snapshot between = std::move(snapshots_[2 * i - 1]);
    snapshots_[i] = std::move(snapshots_[2 * i]);
    for (std::size_t j = 0; j < between.size(); ++j)
      snapshots_[i][j].gap = std::max(snapshots_[i][j].gap, between[j].gap);
  }
  snapshots_.resize((snapshots_.size() + 1) / 2);
  stride_ *= 2;
}

// Looked at when its length has doubled alone: who stops at the first good look finds chance.
bool RateSampler::measured(const std::vector<std::string>& sorts, RateWindow& found) const {
  const bool first_look = stride_ == 1 && snapshots_.size() == kBatches + 1;
  if (!first_look && snapshots_.size() <= 2 * kBatches) return false;
  found.sorts = sorts;
  for (std::size_t i = 0; i < activities_.size(); ++i) {
    const ActivityProgress& first = snapshots_.front()[i];
    const ActivityProgress& last = snapshots_.back()[i];
    std::size_t moved = 0;
    for (std::size_t j = 1; j < snapshots_.size(); ++j)
      moved += snapshots_[j][i].done > snapshots_[j - 1][i].done ? 1 : 0;
    if (last.done - first.done < kFewestLines || moved < kFewestBatches) return false;
    found.rates.push_back(static_cast<double>(last.done - first.done) /
                          static_cast<double>((last.at - first.at).ps()));
    found.error = std::max(found.error, rate_error(i, found.rates.back()));
  }
  return found.error <= kLargestError;
}

// From the scatter of a few long batches, for short ones depend on each other: lines come in bursts. It is
// not below how far the halves are apart, and has besides the share of one line, or of a turn of its
// memories, and of what bursts leave open.
double RateSampler::rate_error(std::size_t activity, double rate) const {
  const auto between = [&](std::size_t from, std::size_t to) {
    const ActivityProgress& first = snapshots_[from][activity];
    const ActivityProgress& last = snapshots_[to][activity];
    return static_cast<double>(last.done - first.done) /
           static_cast<double>(std::max<std::int64_t>((last.at - first.at).ps(), 1));
  };
  const std::size_t length = (snapshots_.size() - 1) / kLongBatches;
  const std::size_t begin = snapshots_.size() - 1 - length * kLongBatches;
  double squares = 0;
  for (std::size_t i = 0; i < kLongBatches; ++i) {
    const double apart = between(begin + i * length, begin + (i + 1) * length) - rate;
    squares += apart * apart;
  }
  constexpr auto kCount = static_cast<double>(kLongBatches);
  const double half_width =
      student_t(Confidence::k99, kCount - 1) * std::sqrt(squares / (kCount * (kCount - 1)));
  const std::size_t middle = snapshots_.size() / 2;
  const double halves = std::abs(between(0, middle) - between(middle, snapshots_.size() - 1)) / 2;
  return std::max(half_width, halves) / rate + turn_error(activity, rate) + burst_error(activity);
}

// A window may end in the midst of a turn, and begin between two: what it is then off by is how far lines are
// from where they would be at its rate, as the looks within it see. They see that in a few whole turns.
double RateSampler::turn_error(std::size_t activity, double rate) const {
  constexpr double kTurns = 4;
  const ActivityProgress& first = snapshots_.front()[activity];
  const auto lines = static_cast<double>(snapshots_.back()[activity].done - first.done);
  auto turn = static_cast<double>(activities_[activity]->turn());
  if (lines >= kTurns * turn) {
    double least = 0;
    double most = 0;
    for (const Snapshot& snapshot : snapshots_) {
      const ActivityProgress& each = snapshot[activity];
      const double ahead =
          static_cast<double>(each.done - first.done) - rate * static_cast<double>((each.at - first.at).ps());
      least = std::min(least, ahead);
      most = std::max(most, ahead);
    }
    turn = std::clamp(most - least, 1.0, turn);
  }
  return turn / lines;
}

// Where lines come in bursts a window may end in the midst of one, and begin between two. Batches do not show
// that where all of them do. A refresh makes a gap, too, but at the same phase of each end.
double RateSampler::burst_error(std::size_t activity) const {
  const ActivityProgress& first = snapshots_.front()[activity];
  const ActivityProgress& last = snapshots_.back()[activity];
  Time gap;
  for (std::size_t i = 1; i < snapshots_.size(); ++i) gap = std::max(gap, snapshots_[i][activity].gap);
  const auto length = static_cast<double>((last.at - first.at).ps());
  const double mean = length / static_cast<double>(last.steps - first.steps);
  const double more = static_cast<double>((gap - refreshes_.longest).ps()) - mean;
  return std::max(0.0, more) / length;
}

Time RateSampler::skip(RateWindow& window, Time most) {
  // The rates are those of the sorts, in whichever order the activities are now.
  std::vector<double> rates;
  std::vector<bool> taken(window.sorts.size(), false);
  for (const Activity* each : activities_) {
    const std::string sort = each->sort();
    for (std::size_t i = 0; i < window.sorts.size(); ++i) {
      if (taken[i] || window.sorts[i] != sort) continue;
      taken[i] = true;
      rates.push_back(window.rates[i]);
      break;
    }
  }
  auto time = static_cast<double>(most.ps());
  for (std::size_t i = 0; i < activities_.size(); ++i) {
    const double steady = std::min(static_cast<double>(activities_[i]->ahead()) / rates[i],
                                   static_cast<double>(activities_[i]->steady_for(rates[i]).ps()));
    time = std::min(time, steady - static_cast<double>(settle_.ps()));
  }
  if (time < static_cast<double>(settle_.ps())) return {};
  const Time skipped = refreshes_.whole_of(Time{static_cast<std::int64_t>(time)});
  if (skipped == Time{}) return {};
  double short_of = 0;  // ps that lines take which could not be skipped, or a turn that was cut
  for (std::size_t i = 0; i < activities_.size(); ++i) {
    const double wanted = static_cast<double>(skipped.ps()) * rates[i];
    const std::uint64_t lines = activities_[i]->skip(static_cast<std::uint64_t>(wanted), skipped);
    const std::uint64_t turn = activities_[i]->turn();
    const double cut = turn > 1 ? static_cast<double>(turn) : 0;
    short_of = std::max(short_of, (std::abs(wanted - static_cast<double>(lines)) + cut) / rates[i]);
  }
  window.skipped += skipped;
  ++window.used;
  error_ += static_cast<double>(skipped.ps()) * window.error + short_of;
  // Where its rate is a little off, the end of a transfer comes before a refresh that it would be behind.
  error_ += static_cast<double>((refreshes_.out_of_step + refreshes_.longest).ps());
  return skipped;
}

// In the cycle that is left every bank is refreshed, and has closed the row that was open before.
Time RateSampler::pass(Time most) {
  const Time passed = refreshes_.whole_of(std::max(Time{}, most - refreshes_.length));
  if (passed > Time{}) error_ += static_cast<double>(refreshes_.out_of_step.ps());
  return passed;
}

}  // namespace cxloom

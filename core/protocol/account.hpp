// An account: where the time of something that somebody waits for went, up to a mark.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/units.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

/// Segments of accesses to plain memory over links and switches, hops first. The last rare ones are a bus's.
inline constexpr std::array kCommonSegments{
    Segment::kLinkQueue,   Segment::kCredit,      Segment::kSerialization, Segment::kPortDelay,
    Segment::kPropagation, Segment::kSwitchQueue, Segment::kSwitching,     Segment::kRequesterQueue,
    Segment::kProcess,     Segment::kController,  Segment::kMediaQueue,    Segment::kMedia};

/// Charging a segment moves the mark, so that the segments always sum to the time from the opening of the
/// account to the mark. Time never runs back: no segment is below zero, and rare ones that sum to nothing are
/// all zero.
class Account {
 public:
  /// Two segments, in ps: one addition is that of both.
  using Pair [[gnu::vector_size(16)]] = std::int64_t;
  static Pair pair_at(const Time* segments) { return Pair{segments[0].ps(), segments[1].ps()}; }

  static constexpr std::size_t kCommon = kCommonSegments.size();
  static_assert(kCommon % 2 == 0, "segments are added in pairs");
  /// Places of rare segments, 4, 12 or 20, so that the mark begins a cache line of a request; those left over
  /// stay zero.
  static constexpr std::size_t kRare = (kSegmentCount - kCommon + 3) / 8 * 8 + 4;
  /// Bytes before the mark, which the segments of hops follow: in a request all these are one cache line.
  static constexpr std::size_t kMarkOffset = kRare * sizeof(Time);

  /// Up to when the time is accounted for.
  Time mark() const { return times_[kMark]; }
  /// The time of an account begins; nothing was charged to it before.
  void open(Time at) { times_[kMark] = at; }
  /// Accounts for the time from the mark up to `until`, and moves the mark there.
  void charge(Segment segment, Time until) {
    times_[place_of(segment)] += until - mark();
    times_[kMark] = until;
  }
  /// Does so for who was given the segment, and has looked up beforehand where it is in accounts.
  void charge_at(std::uint8_t place, Time until) {
    times_[place] += until - mark();
    times_[kMark] = until;
  }
  static constexpr std::uint8_t place_of(Segment segment) {
    return kPlaces[static_cast<std::size_t>(segment)];
  }
  /// Accounts for so much time from the mark on, and moves the mark behind it.
  void charge_next(Segment segment, Time length) {
    times_[place_of(segment)] += length;
    times_[kMark] += length;
  }
  /// Takes over the time of a child, which began with nothing at this mark: what was waited for is answered.
  void join(const Account& child) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (i == kMark) continue;
      times_[i] += child.times_[i];
      times_[kMark] += child.times_[i];
    }
    ensure(mark() == child.mark(), "an account that was charged for less than the time that it waited");
  }
  Time of(Segment segment) const { return times_[place_of(segment)]; }
  /// By the number of the segment.
  std::array<Time, kSegmentCount> segments() const {
    std::array<Time, kSegmentCount> all;
    for (std::size_t i = 0; i < kSegmentCount; ++i) all[i] = of(static_cast<Segment>(i));
    return all;
  }

  // For work on many accounts: the common segments and the rare ones, each in an order of their own.

  const Time* common() const { return &times_[kMark + 1]; }
  const Time* rare() const { return &times_[0]; }
  /// The sum of the common segments: the rest of the account's length is the sum of the rare ones.
  Time common_sum() const {
    Pair sum{};
#pragma GCC unroll 6  // once per request
    for (std::size_t i = 0; i < kCommon; i += 2) sum += pair_at(common() + i);
    return Time{sum[0] + sum[1]};
  }
  /// Makes it new. `length`: the sum of its segments. Of rare ones the last are touched, back to the first
  /// that is not zero.
  void renew(Time length) {
    Time left = length - common_sum();
    for (std::size_t i = kRare; left != Time{} && i > 0; i -= 2) {
      left -= times_[i - 2] + times_[i - 1];
      times_[i - 2] = times_[i - 1] = Time{};
    }
    for (std::size_t i = kMark; i < times_.size(); ++i) times_[i] = Time{};
  }
  /// Where `common()` or, behind the common ones, `rare()` has a segment.
  static constexpr std::size_t order_of(Segment segment) {
    const std::size_t place = place_of(segment);
    return place > kMark ? place - kMark - 1 : kCommon + place;
  }

 private:
  static constexpr std::size_t kMark = kRare;

  // Hidden: a library looks exported data up through a table of addresses.
  [[gnu::visibility("hidden")]] static constexpr std::array<std::uint8_t, kSegmentCount> kPlaces = [] {
    std::array<std::uint8_t, kSegmentCount> places{};
    std::uint8_t next = kMark + 1;
    for (const Segment segment : kCommonSegments) places[static_cast<std::size_t>(segment)] = next++;
    // Near the mark those that most have: they share a cache line of a request, whose first rare ones few
    // touch.
    next = kRare;
    for (std::uint8_t& place : places) place = place != 0 ? place : --next;
    return places;
  }();

  std::array<Time, kRare + 1 + kCommon> times_{};  // the rare segments, the mark, the common segments
};

}  // namespace cxloom

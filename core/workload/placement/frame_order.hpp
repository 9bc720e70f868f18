// The order in which the frames of a node are given to pages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "workload/placement/numa_nodes.hpp"

namespace cxloom {

/// What the frames of a program's pages look like in memory.
enum class FrameLayout : std::uint8_t {
  kScattered,   ///< anywhere in the node: what is free on a machine that has run for a while
  kContiguous,  ///< one behind the other: huge pages, or memory right after a boot
};

/// The numbers below `count` in an order without a pattern, each once: a Feistel network over the next power
/// of two, walked on until it gives one of them (Black and Rogaway, 2002). It takes no memory, and one key
/// gives one order on every machine.
class Shuffle {
 public:
  Shuffle(std::uint64_t count, std::uint64_t key);
  std::uint64_t at(std::uint64_t place) const {
    do place = permuted(place);
    while (place >= count_);
    return place;
  }

 private:
  static constexpr unsigned kRounds = 6;

  std::uint64_t permuted(std::uint64_t value) const;

  std::uint64_t count_;
  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, kRounds> keys_{};
};

class FrameOrder {
 public:
  /// A frame, and the bytes from its first one on that an access may reach.
  struct Frame {
    Address base;
    std::uint64_t room = 0;
  };

  /// In the order of their addresses; with a `key` in one without a pattern.
  FrameOrder(Frames frames, Bytes page, std::optional<std::uint64_t> key = std::nullopt);

  std::uint64_t count() const { return count_; }
  bool holds(Address address) const { return frame_at(address).has_value(); }
  /// The base of the frame that an address is in; nothing: it is in none.
  std::optional<Address> frame_at(Address address) const;
  /// The frame of that place in the order. Who has all places up to `end` may go on in the frame behind it,
  /// as far as there is one.
  Frame at(std::uint64_t place, std::uint64_t end) const;

 private:
  Frames frames_;
  std::uint64_t page_;
  std::uint64_t count_;
  std::optional<Shuffle> shuffle_;
};

}  // namespace cxloom

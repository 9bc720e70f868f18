// What a component counts in the measured window: it counts always, and what it had when the window opened is
// taken off.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernel/measured_window.hpp"

namespace cxloom {

/// A struct of counters alone, each an integer of 64 bits or a time: words that can be added and taken off
/// one by one.
template <class Counts>
concept CounterStruct =
    std::is_trivially_copyable_v<Counts> && std::has_unique_object_representations_v<Counts> &&
    alignof(Counts) == alignof(std::uint64_t) && sizeof(Counts) % sizeof(std::uint64_t) == 0;

namespace windowed_detail {

template <CounterStruct Counts>
using Words = std::array<std::uint64_t, sizeof(Counts) / sizeof(std::uint64_t)>;

template <class Operation, CounterStruct Counts>
Counts each_word(const Counts& a, const Counts& b, Operation operation) {
  auto words = std::bit_cast<Words<Counts>>(a);
  const auto others = std::bit_cast<Words<Counts>>(b);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = operation(words[i], others[i]);
  return std::bit_cast<Counts>(words);
}

}  // namespace windowed_detail

/// Counter by counter.
template <CounterStruct Counts>
Counts sum_of(const Counts& a, const Counts& b) {
  return windowed_detail::each_word(a, b, [](std::uint64_t x, std::uint64_t y) { return x + y; });
}
template <CounterStruct Counts>
Counts difference_of(const Counts& a, const Counts& b) {
  return windowed_detail::each_word(a, b, [](std::uint64_t x, std::uint64_t y) { return x - y; });
}

/// `counts->reads += 1` counts, whether a window is open or not; `window()` has what was counted in it.
template <CounterStruct Counts>
class Windowed {
 public:
  Counts* operator->() { return &all_; }
  Counts& operator*() { return all_; }

  void open(Time at) {
    measured_.open(at);
    in_window_ = all_;
  }
  void close(Time at) {
    if (!measured_.has_opened() || measured_.is_open()) in_window_ = difference_of(all_, in_window_);
    measured_.close(at);
  }
  const MeasuredWindow& measured() const { return measured_; }
  /// What was counted in the window, so far if it is open. Zeros before.
  Counts window() const { return measured_.is_open() ? difference_of(all_, in_window_) : in_window_; }

 private:
  MeasuredWindow measured_;
  Counts all_{};
  Counts in_window_{};  // while the window is open: all when it opened
};

}  // namespace cxloom

// What a component counts in the measured window: it counts always, and what it had when the window opened is
// taken off. What cannot be taken off again, such as a distribution, takes entries in the window alone.
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

/// What was counted in the window, of counts that somebody else keeps: all of them are shown when it opens
/// and when it closes.
template <CounterStruct Counts>
class CountsInWindow {
 public:
  void open(Time at, const Counts& all) {
    measured_.open(at);
    counted_ = all;
  }
  /// One that never opened has what was counted from the beginning.
  void close(Time at, const Counts& all) {
    counted_ = window(all);
    measured_.close(at);
  }
  const MeasuredWindow& measured() const { return measured_; }
  bool closed() const { return measured_.has_opened() && !measured_.is_open(); }
  /// What was counted in the window; until it closes so far, as `all` is now, and before it opens from the
  /// beginning.
  Counts window(const Counts& all) const { return closed() ? counted_ : difference_of(all, counted_); }
  /// Zeros until it closes.
  Counts closed_window() const { return closed() ? counted_ : Counts{}; }

 private:
  MeasuredWindow measured_;
  Counts counted_{};  // in the window; while it is open: all when it opened
};

/// Its owner opens and closes it, together with more.
struct OpenedByOwner {};

/// `counts->reads += 1` counts, whether a window is open or not; `window()` has what was counted in it. It is
/// made with the kernel whose simulation's window is its own: nobody can forget to open it. It stays where it
/// is.
template <CounterStruct Counts>
class Windowed {
 public:
  explicit Windowed(Kernel& kernel) { measured_parts(kernel).add(*this); }
  explicit Windowed(OpenedByOwner /*owner*/) {}
  Windowed(const Windowed&) = delete;
  Windowed& operator=(const Windowed&) = delete;

  Counts* operator->() { return &all_; }
  Counts& operator*() { return all_; }

  void open(Time at) { in_window_.open(at, all_); }
  void close(Time at) { in_window_.close(at, all_); }
  const MeasuredWindow& measured() const { return in_window_.measured(); }
  /// What was counted in the window, so far if it is open. Zeros before.
  Counts window() const { return measured().has_opened() ? in_window_.window(all_) : Counts{}; }

 private:
  Counts all_{};
  CountsInWindow<Counts> in_window_;
};

/// `if (entries.is_open()) entries->latency.add(time)`: for what cannot be taken off again, such as
/// distributions, sums that are rounded, and extremes. It begins anew with each window.
template <class Entries>
class EntriesInWindow {
 public:
  bool is_open() const { return measured_.is_open(); }
  Entries* operator->() { return &entries_; }
  const Entries* operator->() const { return &entries_; }

  void open(Time at) {
    measured_.open(at);
    entries_ = Entries();
  }
  void close(Time at) { measured_.close(at); }
  const MeasuredWindow& measured() const { return measured_; }

 private:
  Entries entries_;
  MeasuredWindow measured_;
};

}  // namespace cxloom

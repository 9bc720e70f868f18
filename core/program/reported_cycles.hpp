// How far a thread has come, and how far the reader of its records knows that.
#pragma once

#include <cstdint>
#include <utility>

namespace cxloom {

/// The cycles of one thread in which nothing waits for memory. A thread that has made no record for long
/// reports how far it has come, so that its simulation can go on.
class ReportedCycles {
 public:
  /// After so many cycles without a record.
  static constexpr std::uint64_t kSilence = 16384;

  /// The thread is in that cycle: gives how many have passed since this was asked last.
  std::uint64_t pass(std::uint64_t now) { return now - std::exchange(told_, now); }
  /// It makes a record in that cycle.
  void record(std::uint64_t now) { silent_ = now + kSilence; }
  bool is_silent(std::uint64_t now) const { return now >= silent_; }

 private:
  std::uint64_t told_ = 0;
  std::uint64_t silent_ = kSilence;  // from this cycle on
};

}  // namespace cxloom

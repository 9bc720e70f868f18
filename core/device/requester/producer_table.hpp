// When the latest accesses of a workload were answered, for accesses that need their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "device/requester/core_access.hpp"

namespace cxloom {

/// By number, in the order in which they were read: a word per access, which is its address in memory until
/// it is answered, then the time of its answer. Memory grows with the accesses read, up to `kSize` words.
class ProducerTable {
 public:
  /// Accesses known: one further back has been answered.
  static constexpr std::size_t kSize = std::size_t{1} << 18U;
  /// Bytes of a table, at most.
  static constexpr std::uint64_t bytes() { return kSize * sizeof(std::uint64_t); }

  /// The access whose place the next one takes is answered.
  bool has_room() const { return words_.size() < kSize || (words_[place(count_)] & kPending) == 0; }
  /// The access of the next number, which is not answered.
  void add(CoreAccess& access) {
    const std::uint64_t word = reinterpret_cast<std::uintptr_t>(&access) | kPending;
    if (words_.size() < kSize) [[unlikely]]
      words_.push_back(word);
    else words_[place(count_)] = word;
    ++count_;
  }
  /// Whether it is still known: one that was read lately.
  bool has(std::uint64_t number) const { return number < count_ && count_ - number <= kSize; }

  /// The access with a number that is known; null, if it is answered.
  CoreAccess* pending(std::uint64_t number) const {
    const std::uint64_t word = words_[place(number)];
    return (word & kPending) == 0 ? nullptr : reinterpret_cast<CoreAccess*>(word & ~kPending);
  }
  /// When an access that is known was answered.
  Time done(std::uint64_t number) const {
    return Time{static_cast<std::int64_t>(words_[place(number)] >> kPending)};
  }
  /// The access is answered, at that time.
  void answer(std::uint64_t number, Time at) {
    if (has(number)) words_[place(number)] = static_cast<std::uint64_t>(at.ps()) << kPending;
  }

 private:
  static constexpr std::uint64_t kPending = 1;  // addresses of accesses are even
  static_assert(alignof(CoreAccess) > kPending);

  static std::size_t place(std::uint64_t number) { return static_cast<std::size_t>(number % kSize); }

  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

}  // namespace cxloom

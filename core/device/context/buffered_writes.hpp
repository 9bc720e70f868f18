// The writes in the buffer of a device that has answered them: what a read finds there need not come from the
// media.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"

namespace cxloom {

class BufferedWrites {
 public:
  /// Holds at most so many writes at a time.
  explicit BufferedWrites(std::uint32_t writes)
      : buckets_(std::bit_ceil(std::size_t{std::max(writes, 1U)} * 2), kNone) {}

  void add(Address address, std::uint16_t size) {
    for_each_line(address, size, [&](const LineWrite& write) { insert(write); });
  }
  /// Removes a write that was added.
  void remove(Address address, std::uint16_t size) {
    for_each_line(address, size, [&](const LineWrite& write) { erase(write); });
  }
  /// Whether each line of these bytes is written by one of them as far as the bytes reach.
  bool hold(Address address, std::uint16_t size) const {
    bool all = true;
    for_each_line(address, size, [&](const LineWrite& wanted) { all = all && covers(wanted); });
    return all;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct LineWrite {  // what a write has in one line
    std::uint64_t line = 0;
    std::uint16_t begin = 0;
    std::uint16_t end = 0;
    std::uint32_t next = kNone;
  };

  template <class Action>
  static void for_each_line(Address address, std::uint16_t size, Action action) {
    const std::uint64_t end = address.value() + std::max<std::uint64_t>(size, 1);
    for (std::uint64_t at = address.value(); at < end;) {
      const std::uint64_t line = at / kLineBytes;
      const std::uint64_t stop = std::min(end, (line + 1) * kLineBytes);
      action(LineWrite{line, static_cast<std::uint16_t>(at - line * kLineBytes),
                       static_cast<std::uint16_t>(stop - line * kLineBytes), kNone});
      at = stop;
    }
  }
  std::size_t bucket(std::uint64_t line) const {
    return static_cast<std::size_t>(line * 0x9e3779b97f4a7c15ULL >> 32U) & (buckets_.size() - 1);
  }
  bool covers(const LineWrite& wanted) const {
    for (std::uint32_t i = buckets_[bucket(wanted.line)]; i != kNone; i = writes_[i].next) {
      const LineWrite& write = writes_[i];
      if (write.line == wanted.line && write.begin <= wanted.begin && write.end >= wanted.end) return true;
    }
    return false;
  }
  void insert(LineWrite write) {
    std::uint32_t slot = free_;
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(writes_.size());
      writes_.emplace_back();
    } else {
      free_ = writes_[slot].next;
    }
    std::uint32_t& first = buckets_[bucket(write.line)];
    write.next = first;
    writes_[slot] = write;
    first = slot;
  }
  void erase(const LineWrite& gone) {
    std::uint32_t* at = &buckets_[bucket(gone.line)];
    while (*at != kNone) {
      LineWrite& write = writes_[*at];
      if (write.line == gone.line && write.begin == gone.begin && write.end == gone.end) {
        const std::uint32_t slot = *at;
        *at = write.next;
        write.next = free_;
        free_ = slot;
        return;
      }
      at = &write.next;
    }
    ensure(false, "a write left a buffer in which it was not");
  }

  std::vector<std::uint32_t> buckets_;
  std::vector<LineWrite> writes_;
  std::uint32_t free_ = kNone;
};

}  // namespace cxloom

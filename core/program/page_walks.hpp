// When the walkers of a thread's core are free, and when the translations of its pages are there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/dependence.hpp"
#include "tags/tlb.hpp"

namespace cxloom {

/// The page walkers of one thread, in cycles where nothing waits for memory. Walks begin in program order.
class PageWalkers {
 public:
  explicit PageWalkers(std::uint32_t count) : free_(count) {}

  /// A walk that could begin in a cycle begins when a walker is free.
  std::uint64_t begin(std::uint64_t cycle) {
    first_ = std::ranges::min_element(free_);
    return std::max(cycle, *first_);
  }
  /// The walk that began last is over.
  void end(std::uint64_t cycle) { *first_ = cycle; }

 private:
  std::vector<std::uint64_t> free_;  // from that cycle on
  std::vector<std::uint64_t>::iterator first_;
};

/// The pages of one thread whose look-up or walk may still be under way, though the TLB has them already. A
/// slot keeps the latest of the pages that share it.
class TranslationsUnderWay {
 public:
  bool any() const { return any_; }

  /// The translation of a page is there then; what was looked up waited for `needed`.
  void add(std::uint64_t page, const Dependence& needed, const Dependence& placed) {
    slots_[slot(page)] = {page, needed.producer(), placed};
    latest_ = std::max(latest_, placed.producer());
    known_ = std::max(known_, placed.known);
    any_ = true;
  }
  /// What an access to a page waits for that has its address. Records up to `answered` are there, and it is
  /// that cycle.
  Dependence wait(std::uint64_t page, const Dependence& address, Producer answered, std::uint64_t now) {
    if (latest_ <= answered && known_ <= now) {
      any_ = false;
      return address;
    }
    const Translation& translation = slots_[slot(page)];
    if (translation.page != page) return address;
    const Producer walk = translation.placed.producer();
    // A walk that began without what the address is made of is hardly the later one: a chain of addresses
    // goes on through them.
    const bool behind = address.producer() <= std::max(translation.needed, answered);
    if (walk <= address.producer() || (walk > answered && behind)) return later(address, translation.placed);
    return address.not_before(translation.placed.known);
  }

 private:
  struct Translation {
    std::uint64_t page = ~std::uint64_t{0};
    Producer needed = 0;
    Dependence placed;
  };

  static constexpr unsigned kSlotBits = 6;
  static std::size_t slot(std::uint64_t page) {
    constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>(page * kGolden >> (64 - kSlotBits));
  }

  std::array<Translation, std::size_t{1} << kSlotBits> slots_{};
  Producer latest_ = 0;
  std::uint64_t known_ = 0;
  bool any_ = false;
};

}  // namespace cxloom

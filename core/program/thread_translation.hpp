// The waits of a thread's accesses for the places of their pages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/dependence.hpp"
#include "program/program_translation.hpp"
#include "program/retired_records.hpp"
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

/// The translation of one thread. An access to a page that the TLB of its core lacks waits for a look-up in
/// the second level, or for a walk of the page table, each of whose loads waits for the one before. An access
/// to that page meanwhile waits, too. Addresses have their process's number above them.
class ThreadTranslation {
 public:
  /// `core` is as in `ProgramTranslation::tlb_of`.
  ThreadTranslation(ProgramTranslation& program, const void* core)
      : program_(program), tlb_(program.tlb_of(core)), walkers_(program.params().walkers) {}

  /// Whether the TLB has the pages of an access.
  bool has(std::uint64_t address, std::uint32_t size) { return tlb_.has(address, size); }
  /// Pages that it has may yet have to be waited for.
  bool any_under_way() const { return under_way_.any(); }

  /// What an access waits for that has its address, where the walks of its pages may have begun and not
  /// ended. It is cycle `now`.
  Dependence wait(std::uint64_t address, std::uint32_t size, const Dependence& needed, Producer answered,
                  std::uint64_t now) {
    const std::uint64_t first = page_of(address);
    const std::uint64_t last = page_of(address + size - 1);
    const Dependence placed = under_way_.wait(first, needed, answered, now);
    return first == last ? placed : later(placed, under_way_.wait(last, needed, answered, now));
  }
  /// The result of reading an entry of the page table.
  struct TableRead {
    Producer record = 0;       ///< with which its data comes; 0: it was there
    std::uint32_t cycles = 0;  ///< that the read takes
  };
  /// `wait`, but brings pages that the TLB lacks. `read` reads each entry, and gives a TableRead: it is given
  /// where the entry is, what it waits for, and how many cycles of that are of this walk.
  template <typename Read>
  Dependence bring(std::uint64_t address, std::uint32_t size, const Dependence& needed,
                   RetiredRecords& answered, std::uint64_t now, const Read& read) {
    Dependence placed = wait(address, size, needed, answered.up_to(), now);
    for (const std::uint64_t each : {address, address + size - 1}) {
      if (!tlb_.has(each, 1)) placed = later(placed, bring_page(each, needed, answered, read));
    }
    return placed;
  }

 private:
  std::uint64_t page_of(std::uint64_t address) const { return address >> (12U + 9U * (tlb_.leaf() - 1)); }

  template <typename Read>
  Dependence bring_page(std::uint64_t address, const Dependence& needed, RetiredRecords& answered,
                        const Read& read) {
    const unsigned leaf = tlb_.leaf();
    const unsigned loads = tlb_.bring(address);
    program_.count_miss(loads);
    Dependence known = needed.after(program_.params().second_cycles);
    if (loads > 0) {
      known = known.after(static_cast<std::uint32_t>(walkers_.begin(known.known) - known.known));
      for (unsigned level = leaf + loads; level-- > leaf;) {
        const TableRead entry = read(page_table_entry(address, level), known, known.known - needed.known);
        known = known.after(entry.cycles);
        // A line that has been there for long is not waited for.
        if (entry.record > answered.up_to()) known = later(known, Dependence(entry.record));
      }
      walkers_.end(known.known);
    }
    under_way_.add(page_of(address), needed, known);
    return known;
  }

  ProgramTranslation& program_;
  Tlb& tlb_;
  PageWalkers walkers_;
  TranslationsUnderWay under_way_;
};

}  // namespace cxloom

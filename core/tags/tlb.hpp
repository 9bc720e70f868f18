// The translation of a core: which pages it has the places of, and how much of the page table it has to walk
// for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tags/tag_array.hpp"
#include "tags/tlb_params.hpp"

namespace cxloom {

/// The page table of an address space of 48 bits, as x86-64 has it: four levels, of which 1 is the nearest to
/// the page.
inline constexpr unsigned kPageTableLevels = 4;

/// Where the entry of a level for an address is: in the upper half of the space, which no program has.
/// Entries of a level lie in the order of what they are for, 512 in a page of the table.
constexpr std::uint64_t page_table_entry(std::uint64_t address, unsigned level) {
  constexpr unsigned kSpaceBits = 48;
  constexpr unsigned kLevelShift = 44;
  const std::uint64_t own = address & ((std::uint64_t{1} << kSpaceBits) - 1);
  const std::uint64_t number = own >> (12U + 9U * (level - 1));
  return std::uint64_t{1} << (kSpaceBits - 1) | std::uint64_t{level} << kLevelShift | number * 8;
}

/// What a core knows of where pages are. It has no time: order is all that counts. Each part forgets what was
/// used the longest time ago. An address in a look-up has the number of its address space above its 48 bits.
class Tlb {
 public:
  Tlb(const TlbParams& params, const VictimRegistry& policies);

  /// The level of the page table whose entries are for pages.
  unsigned leaf() const { return leaf_; }

  /// Whether the first level has all pages of an access.
  bool has(std::uint64_t address, std::uint32_t size) {
    const std::uint64_t first = address >> page_bits_;
    const std::uint64_t last = (address + size - 1) >> page_bits_;
    return has_page(first) && (first == last || has_page(last));
  }
  /// How many levels of the page table have to be loaded for a page that the first level lacks, from `leaf()`
  /// on, the upper ones first. None: the second level has the page. Both levels have it from now on.
  unsigned bring(std::uint64_t address);

 private:
  /// A page, and its slot in the first level, where it is.
  struct Recent {
    std::uint64_t page = ~std::uint64_t{0};
    Slot slot = 0;
  };
  static constexpr unsigned kRecentBits = 7;

  bool has_page(std::uint64_t page) {
    const Recent& recent = recent_[place(page)];
    if (recent.page != page) [[unlikely]]
      return finds(page);
    first_.touch(recent.slot);
    return true;
  }
  // Arrays that are walked together often lie apart by powers of two.
  static std::size_t place(std::uint64_t page) {
    constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>(page * kGolden >> (64 - kRecentBits));
  }
  bool finds(std::uint64_t page);
  void put_first(std::uint64_t page);
  unsigned walk(std::uint64_t address);

  unsigned page_bits_;
  unsigned leaf_;
  TagArray first_;
  TagArray second_;
  std::vector<TagArray> upper_;  // of the levels behind the leaf
  std::vector<Recent> recent_ = std::vector<Recent>(std::size_t{1} << kRecentBits);
};

}  // namespace cxloom

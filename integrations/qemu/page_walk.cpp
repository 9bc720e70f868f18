#include "page_walk.hpp"

#include <algorithm>

namespace cxloom::qemu {

namespace {

constexpr std::uint64_t kDirectMap = 0xFFFF'8880'0000'0000;  // of Linux: all memory, in its order
constexpr std::uint64_t kTable = 0x000F'FFFF'FFFF'F000;      // an entry's bits of the next table (AMD64, 5.3)
constexpr std::uint64_t kPresent = 1;
constexpr std::uint64_t kLarge = 1U << 7U;
constexpr unsigned kLevels = 4;

}  // namespace

void PageWalk::entries(std::uint64_t address, const MemoryParts& memory, std::uint64_t* places) {
  std::fill_n(places, kLevels, 0);
  std::uint64_t table = 0;
  if (!tables_.read(table)) return;
  for (unsigned level = kLevels; level >= 1; --level) {
    const std::uint64_t entry = (table & kTable) + (address >> (12U + 9U * (level - 1)) & 511U) * 8;
    std::uint64_t place = 0;
    if (memory.place_of(entry, place)) places[level - 1] = place;
    table = memory_.word(kDirectMap + entry);
    if ((table & kPresent) == 0 || (level > 1 && (table & kLarge) != 0)) return;
  }
}

}  // namespace cxloom::qemu

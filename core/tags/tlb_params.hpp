// The parameters of the translation of a core.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// Two levels of translation lookaside buffers, caches of the upper levels of the page table, and walkers.
struct TlbParams {
  static constexpr Bytes kSmallPage{std::uint64_t{4} << 10U};
  static constexpr Bytes kHugePage{std::uint64_t{2} << 20U};

  Bytes page = kSmallPage;
  std::uint32_t entries = 96;
  std::uint32_t ways = 6;
  std::uint32_t huge_entries = 32;
  std::uint32_t huge_ways = 8;
  std::uint32_t second_entries = 2048;
  std::uint32_t second_ways = 16;
  std::uint32_t second_cycles = 7;
  std::uint32_t walk_cache = 32;
  std::uint32_t walkers = 4;

  bool huge() const { return page == kHugePage; }
  bool operator==(const TlbParams&) const = default;
  static void describe(Schema<TlbParams>& schema);
};

}  // namespace cxloom

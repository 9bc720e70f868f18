// Where the entries of a machine's page tables are, as far as they were told.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "program/feed/program_sink.hpp"
#include "tags/tlb.hpp"

namespace cxloom {

/// By the addresses of entries, as `page_table_entry` has them, their places in memory. All processes share
/// them: an address that leads to different pages is at the place that was told last.
class PageTables {
 public:
  void note(const TabledPage& page) {
    for (unsigned level = 1; level <= feed::kPageLevels; ++level) {
      const std::uint64_t place = page.entries[level - 1];
      const std::uint64_t entry = page_table_entry(page.address, level);
      if (place != 0) places_[entry] = place;
      else places_.erase(entry);  // of small pages that have become a large one
    }
  }
  /// False: there is no such entry, as where a large page needs none.
  bool find(std::uint64_t entry, std::uint64_t& place) const {
    const auto found = places_.find(entry & kSpace);
    if (found == places_.end()) return false;
    place = found->second;
    return true;
  }

 private:
  static constexpr std::uint64_t kSpace = (std::uint64_t{1} << 48U) - 1;

  std::unordered_map<std::uint64_t, std::uint64_t> places_;
};

}  // namespace cxloom

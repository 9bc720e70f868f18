#include "program/framed_pages.hpp"

#include <algorithm>

#include "workload/trace/page_map.hpp"

namespace cxloom {

void FramedPages::note(const ProgramThread& thread, const ProgramAccess& access, bool walks,
                       std::uint64_t frames, MemoryOrigins& memory) {
  std::uint64_t first = access.address / kPageBytes;
  std::uint64_t last = (access.address + access.size - 1) / kPageBytes;
  if (first != last && frames == pages_.size() + 1) {
    // One alone is new.
    if (is_first_new(among_all(thread, first * kPageBytes), among_all(thread, last * kPageBytes)))
      last = first;
    else first = last;
  }
  for (std::uint64_t page = first; page <= last; ++page) {
    const std::uint64_t address = page * kPageBytes;
    const std::uint32_t origin =
        walks ? memory.page_tables_of(thread.process) : memory.origin_of(thread.process, address);
    pages_.push_back({among_all(thread, address), origin});
  }
}

// If the second one is not new, it was touched before, and mostly not long ago.
bool FramedPages::is_first_new(std::uint64_t first, std::uint64_t second) const {
  const std::uint64_t one = first >> frame_bits_;
  const std::uint64_t other = second >> frame_bits_;
  const auto known = std::find_if(pages_.rbegin(), pages_.rend(), [&](const FramedPage& page) {
    return page.address >> frame_bits_ == one || page.address >> frame_bits_ == other;
  });
  return one != other && known != pages_.rend() && known->address >> frame_bits_ == other;
}

}  // namespace cxloom

// The pages of a program in the frames that they get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/feed/program_sink.hpp"
#include "program/memory_origins.hpp"

namespace cxloom {

/// A page that got a frame.
struct FramedPage {
  std::uint64_t address = 0;  ///< its first, in its process, whose number is in the upper 16 bits
  std::uint32_t origin = 0;   ///< the index of its origin
};

/// By frame, which page of which process it is, and what that is for.
class FramedPages {
 public:
  /// `huge`: pages get frames together, as many as are in one of 2 MiB.
  explicit FramedPages(bool huge) : frame_bits_(huge ? 21 : 12) {}

  /// Notes pages that an access touched first: there are so many frames now. A page walk reads page tables.
  void note(const ProgramThread& thread, const ProgramAccess& access, bool walks, std::uint64_t frames,
            MemoryOrigins& memory);
  const std::vector<FramedPage>& pages() const { return pages_; }
  std::size_t count() const { return pages_.size(); }

 private:
  bool is_first_new(std::uint64_t first, std::uint64_t second) const;

  unsigned frame_bits_;
  std::vector<FramedPage> pages_;
};

}  // namespace cxloom

// How flash is built: channels, packages, dies, planes, blocks, pages, and where the pages of the memory go
// round.
#pragma once

#include <cstdint>

namespace cxloom {

/// Consecutive pages lie on different channels, then packages, dies and planes, so that neighbours are moved
/// at the same time.
struct FlashGeometry {
  std::uint32_t channels = 1;
  std::uint32_t packages = 1;  ///< of a channel
  std::uint32_t dies = 1;      ///< of a package
  std::uint32_t planes = 1;    ///< of a die
  std::uint32_t blocks = 1;    ///< of a plane
  std::uint32_t pages = 1;     ///< of a block
  std::uint32_t logical = 1;   ///< pages of the memory that a plane has; fewer than it can hold

  std::uint32_t all_dies() const { return channels * packages * dies; }
  std::uint32_t all_planes() const { return all_dies() * planes; }
  std::uint64_t logical_pages() const { return std::uint64_t{logical} * all_planes(); }

  /// Where a page of the memory lies: in which plane of all, and which of its pages it is.
  std::uint32_t plane_of(std::uint64_t page) const { return static_cast<std::uint32_t>(page % all_planes()); }
  std::uint32_t within(std::uint64_t page) const { return static_cast<std::uint32_t>(page / all_planes()); }
  std::uint32_t channel_of(std::uint32_t plane) const { return plane % channels; }
};

}  // namespace cxloom

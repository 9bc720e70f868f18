// What QEMU says of an access to memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "qemu_plugin_api.h"

namespace cxloom::qemu {

// How QEMU 10 packs what it knows of an access.
constexpr unsigned log2_size(qemu_plugin_meminfo_t info) { return info >> 4U & 7U; }
constexpr unsigned directions(qemu_plugin_meminfo_t info) { return info >> 16U & 3U; }

/// An access that goes on in the next page is cut there: where that page is, is not said.
inline unsigned log2_within_page(unsigned log2, std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t left = kPage - address % kPage;
  return std::min(log2, static_cast<unsigned>(std::bit_width(left)) - 1);
}

}  // namespace cxloom::qemu

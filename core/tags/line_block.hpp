// Which lines may leave together, as the block of one message.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

enum class BlockAlignment : std::uint8_t {
  kSpec,  ///< as BISnp*Blk of the CXL specification: the lower or upper 128 B of 256 B, or all of them
  kFree,  ///< any lines in a row
};

struct BlockRule {
  std::uint32_t most = 1;  ///< lines in a block, up to kMostLines
  BlockAlignment alignment = BlockAlignment::kSpec;

  static constexpr std::uint32_t kMostLines = 4;
};

/// Lines in a row.
struct LineBlock {
  LineAddress first;
  std::uint32_t lines;
};

/// The longest block around `line` of lines that `has` says yes to, as it would to that one. Where several
/// are equally long it is the one that reaches down furthest.
template <class Has>
LineBlock block_around(const BlockRule& rule, LineAddress line, Has&& has) {
  const std::uint64_t number = line.number();
  if (rule.alignment == BlockAlignment::kSpec) {
    // Whether both lines of a half of the 256 B are there.
    const auto all = [&](std::uint64_t from) {
      return (from == number || has(LineAddress{from})) && (from + 1 == number || has(LineAddress{from + 1}));
    };
    const std::uint64_t half = number & ~std::uint64_t{1};
    if (rule.most < 2 || !all(half)) return {line, 1};
    if (rule.most < 4 || !all(half ^ 2U)) return {LineAddress{half}, 2};
    return {LineAddress{number & ~std::uint64_t{3}}, 4};
  }
  std::uint64_t first = number;
  while (number - first + 1 < rule.most && first != 0 && has(LineAddress{first - 1})) --first;
  std::uint64_t last = number;
  while (last - first + 1 < rule.most && has(LineAddress{last + 1})) ++last;
  return {LineAddress{first}, static_cast<std::uint32_t>(last - first + 1)};
}

}  // namespace cxloom

// A prefix block: some tokens of a prompt together with all that stand before them.
#pragma once

#include <cstdint>

namespace cxloom {

/// The number of a prefix block: 0, 1, ... in the order in which the requests bring them first, those of a
/// request in the order of its prompt.
using KvBlock = std::uint32_t;

}  // namespace cxloom

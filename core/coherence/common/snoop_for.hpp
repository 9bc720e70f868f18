// The purpose of a snoop.
#pragma once

#include <cstdint>

namespace cxloom {

/// The purpose of a snoop.
enum class SnoopFor : std::uint8_t {
  kCurrent,     ///< the current value: the copy stays as it is
  kShare,       ///< a shared copy: what stays is shared, too
  kInvalidate,  ///< an exclusive copy: nothing stays
};

}  // namespace cxloom

// A thing made once for each flit format, with and without the slot formats that cut off reserved bits.
#pragma once

#include <array>
#include <cstddef>

#include "protocol/flit/geometry.hpp"

namespace cxloom {

template <class T>
class ByOption {
 public:
  /// `make(mode, zero_extended)` makes one.
  template <class Make>
  explicit ByOption(Make make) {
    for (std::size_t mode = 0; mode < kFlitModeCount; ++mode) {
      for (const bool zero_extended : {false, true})
        all_[mode][zero_extended ? 1 : 0] = make(static_cast<FlitMode>(mode), zero_extended);
    }
  }

  const T& of(FlitMode mode, bool zero_extended) const {
    return all_[static_cast<std::size_t>(mode)][zero_extended ? 1 : 0];
  }

 private:
  std::array<std::array<T, 2>, kFlitModeCount> all_;
};

}  // namespace cxloom

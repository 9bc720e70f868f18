// How the accesses of a stream are spread over addresses, for whoever counts them by page over minutes and
// cannot draw each.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// A part of a stream's accesses.
struct DemandPart {
  enum class Order : std::uint8_t {
    kDrawn,   ///< each is drawn by itself
    kInTurn,  ///< one block behind the other, from the start again at the end
  };

  AddressRange range;        ///< in whole blocks
  std::uint64_t block = 64;  ///< bytes of an access; of steps of a stride: from one to the next
  double share = 1.0;        ///< of the stream's accesses
  Order order = Order::kDrawn;
  double reads = 1.0;  ///< share of reads
  /// If blocks are drawn, that of rank k, which is number (k - 1) * `scatter` modulo their count, has a
  /// probability in proportion to k^-exponent. 0: all have the same.
  double exponent = 0.0;
  std::uint64_t scatter = 1;
};

}  // namespace cxloom

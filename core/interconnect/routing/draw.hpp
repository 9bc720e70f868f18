// The common part of strategies that draw: the draws, and the choice of the least busy way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "interconnect/routing/junction.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// As good as a draw for each message where traffic is scattered. All messages of one class from one source
/// to one line have the same draw, which keeps their order.
class RoutingDraw {
 public:
  explicit RoutingDraw(std::uint64_t seed) : key_(mix_bits(seed ^ 0x726f757465ULL)) {}

  /// At each `place` another one.
  std::uint64_t of(const Message& message, std::uint32_t place) const {
    const std::uint64_t line = LineAddress::of(message.address).number();
    const std::uint64_t flow =
        (std::uint64_t{message.source.index()} << 8U) | static_cast<std::uint64_t>(message.channel);
    return mix_bits(mix_bits(key_ ^ line) ^ mix_bits(flow) ^ place);
  }
  /// One of so many, for a message that has a hash of what it is about (delivery_order.hpp): nothing is
  /// looked at but what each hop touches of a message.
  std::size_t among(std::size_t ways, const Message& message, std::uint32_t place) const {
    const std::uint64_t flow = std::uint64_t{message.source.index()} << 24U |
                               std::uint64_t{message.order} << 8U |
                               static_cast<std::uint64_t>(message.channel);
    const std::uint64_t drawn = mix_bits(key_ ^ flow ^ std::uint64_t{place} * 0x9e3779b97f4a7c15ULL);
    return static_cast<std::size_t>((drawn >> 32U) * ways >> 32U);
  }

 private:
  std::uint64_t key_;
};

/// The least busy way, beginning with the one that is drawn. CXL.io, which nobody puts in order again, takes
/// that one always.
inline std::size_t least_busy(const Message& message, const Junction& here, const RoutingDraw& draw) {
  const std::size_t ways = here.ways();
  if (message.channel == Channel::kIo) return draw.of(message, here.node()) % ways;
  std::size_t chosen = draw.among(ways, message, here.node());
  std::uint32_t least = here.load(chosen, message.channel);
  for (std::size_t i = 1, way = chosen; i < ways && least > 0; ++i) {
    way = way + 1 == ways ? 0 : way + 1;
    const std::uint32_t load = here.load(way, message.channel);
    if (load < least) {
      least = load;
      chosen = way;
    }
  }
  return chosen;
}

}  // namespace cxloom

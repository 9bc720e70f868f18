// Cuts a graph into parts of about the same weight, across which little goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "system/model/partitions.hpp"

namespace cxloom {

/// The work of a node, by what it is.
struct NodeLoad {
  /// Requests come in waves: while hosts make them memories are idle, and the other way round. So each part
  /// needs its share of each.
  enum class Kind : std::uint8_t { kRequester, kMemory, kBetween };
  static constexpr std::size_t kKinds = 3;

  Kind kind = Kind::kBetween;
  double messages = 0.0;
};

/// By group of `groups`, its part. `traffic` is by node: the weight of a group is that of its nodes; `across`
/// is what goes over a link, by joint. At most `parts`, each with a group at least, numbered from zero. Each
/// has about the same of the traffic of each kind, as far as groups allow.
std::vector<std::uint32_t> balanced_cut(const Partitions& groups, std::span<const Partitions::Joint> joints,
                                        std::span<const NodeLoad> traffic, std::span<const double> across,
                                        std::uint32_t parts);

}  // namespace cxloom

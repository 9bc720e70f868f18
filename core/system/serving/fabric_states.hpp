// How fast the blocks of a KV cache move over a fabric, for each set of moves that are under way together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "system/serving/fabric_probe.hpp"
#include "system/serving/fabric_symmetry.hpp"

namespace cxloom {

/// What holds while the same moves are under way.
struct FabricState {
  std::vector<double> rates;   ///< bytes a second by `FabricStates::number`; those of other moves are zero
  double error = 0;            ///< of the rates, relative, with 99 % confidence
  std::vector<double> shares;  ///< in use, by part
};

/// Each set is measured once, when it is first asked for. Of servers that are alike it counts how many do the
/// same, and not which.
class FabricStates {
 public:
  /// Throws InputError as FabricProbe does.
  FabricStates(const Registry& registry, const ServingParams& params,
               const std::vector<std::uint64_t>& tier_bytes);

  std::size_t number(const FabricFlow& flow) const {
    return (std::size_t{flow.server} * tiers_ + flow.tier) * 2 + (flow.write ? 1 : 0);
  }
  /// `active` has a place for each number.
  const FabricState& of(const std::vector<bool>& active);
  /// The state of a move that is alone.
  const FabricState& alone(const FabricFlow& flow);
  /// What a move takes besides its bytes: the launch of a copy, and the way of its last line.
  Time latency(const FabricFlow& flow);

  /// Names of what moves share: links by direction, and memories. Those that are alike are one.
  const std::vector<std::string>& parts() const { return parts_; }
  std::size_t measured() const { return states_.size(); }
  /// The measured state whose rates are known worst.
  struct Worst {
    double error = 0;
    std::size_t moves = 0;  ///< that go on beside each other in it
  };
  Worst worst() const;

 private:
  using Patterns = std::vector<std::uint64_t>;  // by server, a bit for each tier and direction

  void join_parts();
  FabricRates averaged(const Patterns& patterns) const;

  FabricProbe probe_;
  FabricSymmetry symmetry_;
  std::size_t servers_;
  std::size_t tiers_;
  std::vector<std::string> parts_;
  std::vector<std::size_t> part_of_;                                   // of each part of the probe
  std::map<Patterns, FabricRates> states_;                             // of servers in order
  std::map<std::vector<bool>, FabricState> by_active_;                 // `states_`, as they are asked for
  std::map<std::pair<std::uint32_t, std::uint64_t>, Time> latencies_;  // by group and bit
};

}  // namespace cxloom

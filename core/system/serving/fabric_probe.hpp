// Runs the DMA engines of a system for a moment: how fast sets of copies are that go on beside each other,
// and what they load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"
#include "system/serving/serving_params.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

class RequestObserver;
class Simulation;
class System;
struct Registry;

/// The moves of one server from a tier, or to it.
struct FabricFlow {
  std::uint32_t server = 0;
  std::uint32_t tier = 0;
  bool write = false;
};

/// A part of the system that several moves share.
struct FabricPart {
  std::string name;    ///< "link a->b", "memory m"
  std::string device;  ///< where it begins: of a link the one that sends
  std::string far;     ///< of a link the one that receives
};

/// What a set of copies has been seen to do.
struct FabricRates {
  std::vector<double> rates;   ///< bytes a second, in the order of the flows
  double error = 0;            ///< of the rates, relative, with 99 % confidence
  std::vector<double> shares;  ///< in use, by part
};

class FabricProbe {
 public:
  /// Builds the system once. `tier_bytes` is the capacity of each tier, of one server where it is not shared.
  /// Throws InputError, with the path of the key, for what is wrong with it or with the devices that are
  /// named. `registry` outlives it.
  FabricProbe(const Registry& registry, const ServingParams& params,
              const std::vector<std::uint64_t>& tier_bytes);

  /// Ways are given in it, or some are equally short, so that names or numbers of devices may decide.
  bool ways_differ() const { return ways_differ_; }
  /// By the place of what it says of its parts.
  const std::vector<FabricPart>& parts() const { return parts_; }
  /// The rates of flows that go on beside each other, in windows of lines as tasks have
  /// (docs/model/tasks.md).
  FabricRates measure(const std::vector<FabricFlow>& flows) const;
  /// The time of a copy of so many bytes that is alone, line by line.
  Time time_alone(const FabricFlow& flow, std::uint64_t bytes) const;

 private:
  struct Snapshot {
    Time at;
    std::vector<Time> busy;
  };

  void read(const ServingParams& params);
  void check_servers(const ServingParams& params);
  static void check_others(const System& system);
  static std::string seen_from(const System& system, const std::string& device);
  static bool has_several_ways(const System& system);
  void place_objects(const ServingParams& params, const std::vector<std::uint64_t>& tier_bytes);
  void place_tier(const System& system, const ServingParams& params, std::uint32_t tier, std::uint64_t bytes);
  std::string object_of(const FabricFlow& flow) const;
  Spec with_copies(const std::vector<FabricFlow>& flows, std::uint64_t most, bool exact) const;
  Snapshot snapshot(Simulation& simulation) const;
  void add_shares(Simulation& simulation, const std::vector<Snapshot>& snapshots, FabricRates& found) const;
  /// Throws InputError if some of the moves have lost lines, at the devices of their tier.
  void check_whole(const std::vector<FabricFlow>& flows, const Simulation& simulation) const;
  /// Copies on the fabric. What is wrong of one is said at the device that makes it.
  std::unique_ptr<Simulation> simulation_of(const std::vector<FabricFlow>& flows, std::uint64_t most,
                                            bool exact, RequestObserver& observer) const;
  [[noreturn]] void fail(const std::vector<FabricFlow>& flows, const std::string& why) const;

  const Registry& registry_;
  Spec spec_;                          // with the objects of the tiers, and without tasks
  std::vector<std::string> engines_;   // by server
  std::vector<std::string> tiers_;     // their names
  std::vector<bool> shared_;           // by tier
  std::vector<std::uint64_t> sizes_;   // of the objects, by tier
  std::vector<std::uint32_t> places_;  // of its streams, by tier
  std::uint64_t most_ = 0;             // bytes of a copy
  bool ways_differ_ = false;
  std::vector<FabricPart> parts_;  // links, one for each of their ends, then memories
  std::size_t link_parts_ = 0;
};

}  // namespace cxloom

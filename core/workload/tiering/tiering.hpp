// The tiering of one program: its policy, and what the kernel's work costs.
#pragma once

#include <memory>
#include <span>

#include "workload/placement/numa_nodes.hpp"
#include "workload/tiering/kernel_costs.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class ForeseenStream;

struct Tiering {
  std::unique_ptr<TieringPolicy> policy;
  KernelCosts costs;
  std::span<const NumaNode> nodes;  ///< of the device; they outlive it
  Bytes page;
  const ForeseenStream* foreseen = nullptr;  ///< what is to come, if the policy foresees that
};

}  // namespace cxloom

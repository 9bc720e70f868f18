// Of what ASTRA-sim knows of a node that is under way what the adapter uses.
#pragma once

#include <cstdint>

#include "astra-sim/system/Callable.hh"

namespace AstraSim {

class Workload;

class WorkloadLayerHandlerData : public CallData {
 public:
  int sys_id = 0;
  Workload* workload = nullptr;
  std::uint64_t node_id = 0;
};

}  // namespace AstraSim

// Parameters of the module's objects, as gem5 makes them from CxlPath.py.
#pragma once

#include <string>
#include <vector>

#include "packets.hpp"

namespace gem5 {

namespace cxl {
class Path;
class Fabric;
class BackingMemory;
}  // namespace cxl

struct CxlPathParams : SimObjectParams {};
struct CxlDelayParams : CxlPathParams {
  Tick shortest = 100'000;
  Tick longest = 100'000;
  Tick snoop_interval = 0;
  unsigned snooped_lines = 64;
};
struct CxlFabricParams : CxlPathParams {
  std::string spec;
  std::vector<std::string> plugins;
  std::vector<std::string> measures;
  std::string summary = "cxl.json";
};
using CxlMemoryParams = memory::AbstractMemory::Params;
struct CxlHostParams : SimObjectParams {
  cxl::Path* fabric = nullptr;
  cxl::BackingMemory* memory = nullptr;
  System* system = nullptr;
  std::string device = "host";
  Addr offset = 0;
  bool shares = false;
};
struct CxlMediumParams : SimObjectParams {
  cxl::Fabric* fabric = nullptr;
  std::string device = "mem";
  System* system = nullptr;
};

}  // namespace gem5

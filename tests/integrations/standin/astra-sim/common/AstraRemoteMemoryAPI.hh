// Of ASTRA-sim's interface of a remote memory what the adapter uses.
#pragma once

#include <cstdint>

namespace AstraSim {

class Sys;
class WorkloadLayerHandlerData;

class AstraRemoteMemoryAPI {
 public:
  virtual ~AstraRemoteMemoryAPI() = default;
  virtual void set_sys(int id, Sys* sys) = 0;
  virtual void issue(std::uint64_t tensor_size, WorkloadLayerHandlerData* node) = 0;
};

}  // namespace AstraSim

// A stand-in of ASTRA-sim's Workload: notes when its nodes end.
#pragma once

#include <functional>
#include <map>

#include "astra-sim/system/Sys.hh"
#include "astra-sim/system/WorkloadLayerHandlerData.hh"

namespace AstraSim {

class Workload : public Callable {
 public:
  void call(EventType /*event*/, CallData* data) override {
    auto* const node = dynamic_cast<WorkloadLayerHandlerData*>(data);
    const std::uint64_t id = node->node_id;
    delete node;
    ends[id] = Sys::boostedTick();
    if (ended) ended(id);
  }

  std::map<std::uint64_t, Tick> ends;
  std::function<void(std::uint64_t)> ended;
};

}  // namespace AstraSim

// The common state of the kernels of one simulation.
#pragma once

#include <vector>

#include "kernel/event_source.hpp"
#include "kernel/measured_window.hpp"
#include "kernel/wait_list.hpp"

namespace cxloom {

class Kernel;

/// If there are several kernels, each is a part's queue of events.
struct KernelGroup {
  std::vector<EventSource*> sources;  ///< by identity
  std::vector<Kernel*> kernels;
  std::vector<WaitedFor> wait_lists;  ///< in the order in which they were made
  MeasuredParts measured;
  /// The kernels of handlers that asked for the end of this instant, in the order in which they did, while
  /// one thread plays all kernels: a handler may ask in the event of another kernel.
  std::vector<Kernel*> settling;
  bool one_thread = true;
};

}  // namespace cxloom

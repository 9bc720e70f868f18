// The common state of the kernels of one simulation.
#pragma once

#include <vector>

#include "kernel/event_source.hpp"
#include "kernel/measured_window.hpp"
#include "kernel/wait_list.hpp"

namespace cxloom {

/// If there are several kernels, each is a part's queue of events.
struct KernelGroup {
  std::vector<EventSource*> sources;  ///< by identity
  std::vector<Kernel*> kernels;
  std::vector<WaitedFor> wait_lists;  ///< in the order in which they were made
  MeasuredParts measured;
};

}  // namespace cxloom

// Builds a system from its description.
#pragma once

#include <vector>

#include "system/model/system.hpp"

namespace cxloom {

class Kernel;
struct Registry;
struct Spec;

/// Throws InputError with the path of the error. `spec` must outlive the system.
System build_system(Kernel& kernel, const Registry& registry, const Spec& spec);
/// With a kernel for each device, in the order of the spec: links without latency need one kernel.
System build_system(const std::vector<Kernel*>& kernels, const Registry& registry, const Spec& spec);
/// As with one kernel for all, of a system that is never played: without the plan of its virtual channels,
/// which takes longer than all else where routes close circles.
System build_system_to_look_at(Kernel& kernel, const Registry& registry, const Spec& spec);

/// Checks a system whose devices have work: all reach the devices that they need. Throws InputError.
void check_whole(const System& system, const Spec& spec);

}  // namespace cxloom

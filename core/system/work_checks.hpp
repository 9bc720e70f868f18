// Settings of a requester that its work makes useless, or that contradict it.
#pragma once

#include <string>

#include "device/sequencer.hpp"
#include "system/spec.hpp"

namespace cxloom {

/// Throws InputError for times of accesses that cores know better.
void check_closed_loop(const Spec::Workload& workload, const Sequencer& requester);
/// Throws InputError for an instruction_time beside work that cannot have instruction gaps.
void check_instruction_time(const Spec::Workload& workload, const Sequencer& requester);
/// It spaces accesses by their instruction gaps, and none of those read so far has any.
bool ignores_instruction_time(const Sequencer& requester);
/// Throws InputError if it does, once all its accesses are read: only then is it known that a trace has no gaps.
void check_instruction_gaps(const std::string& device, const Sequencer& requester);

}  // namespace cxloom

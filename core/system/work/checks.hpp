// Checks of the work of a requester: settings that it makes useless or contradicts, and addresses that are
// not there.
#pragma once

#include <string>
#include <vector>

#include "device/requester/requester.hpp"
#include "protocol/address_map.hpp"
#include "system/spec/spec.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/phases.hpp"

namespace cxloom {

/// Throws InputError for times of accesses that cores know better.
void check_closed_loop(const Spec::Workload& workload, const Requester& requester);
/// Throws InputError for a copy engine beside what it does not go with: cores, threads, a rate, other phases.
void check_engines(const Spec::Workload& workload, const std::vector<PhasedStream::Phase>& phases,
                   bool cores);
/// Throws InputError for an instruction_time beside work that cannot have instruction gaps.
void check_instruction_time(const Spec::Workload& workload, const Requester& requester);
/// It spaces accesses by their instruction gaps, and none of those read so far has any.
bool ignores_instruction_time(const Requester& requester);
/// The instructions between its accesses take no time, as nothing says how long one takes, and nothing else
/// spaces them.
bool drops_instruction_gaps(const Requester& requester);
/// A sentence about that.
std::string note_on_dropped_gaps(const std::string& device);
/// Throws InputError if it ignores its instruction_time, once all its accesses are read: only then is it
/// known that a trace has no gaps.
void check_instruction_gaps(const std::string& device, const Requester& requester);

/// Throws InputError, with the path `base` or `footprint`, for a range that leaves the address map, or
/// reaches memory that belongs to another device.
void check_footprint(const AddressRange& range, const AddressMap& map, const std::string& device);

}  // namespace cxloom

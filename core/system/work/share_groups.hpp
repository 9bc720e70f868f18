// Which requesters share an object: those whose pattern is `share` with the same base.
#pragma once

#include <vector>

#include "system/spec/spec.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {

/// The workload has that pattern.
bool shares(const Spec::Workload& workload);
/// Says in `context` which of its hosts the workload is of, in their order, and how many there are. Throws
/// InputError if they do not agree on what they share.
void join_share(const Spec::Workload& workload, const std::vector<Spec::Workload>& all,
                PatternContext& context);

/// Throws InputError if another workload than that of the hosts goes to where these addresses are shared:
/// their locks and flags count the stores to their lines.
void check_apart(const Spec::Workload& workload, const AddressRange& range,
                 const std::vector<Spec::Workload>& all);
/// Throws InputError for what may lose an access of a workload that waits for it for ever.
void check_nothing_is_lost(const Spec& spec);

}  // namespace cxloom

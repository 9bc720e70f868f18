// Objects that a workload names, so that a placement can name them, too.
#pragma once

#include <vector>

#include "system/spec/spec.hpp"
#include "workload/stream/object_range.hpp"

namespace cxloom {

struct Registry;

/// Objects of its pattern, or of the patterns of its phases. Throws InputError for one that has two places.
std::vector<ObjectRange> objects_in(const Spec::Workload& workload, const Registry& registry);

}  // namespace cxloom

// How long a read takes when nothing else is about.
#pragma once

#include <string>

#include "base/value.hpp"

namespace cxloom {

struct Registry;
struct Spec;

/// The `least`, `mean` and `most` ns of a read by a requester: one of each memory and logical device, or of
/// 64 of them, one after the other in an idle system; in the mean each counts as often as addresses lead to
/// it. Those that are answered with an error say nothing;
/// null: all are. A read that a refresh holds up is made again at another phase of it, up to three times.
Value idle_read_latency(const Registry& registry, const Spec& spec, const std::string& requester);

}  // namespace cxloom

// The measures of each direction of a link: the entries of `per_link`.
#pragma once

#include <vector>

#include "base/measure.hpp"

namespace cxloom {

class LinkEnd;

/// All of them, in their order.
std::vector<MeasureInfo> link_measures();
/// Reports the direction that an end sends, in a window of `length` nanoseconds that was closed. Half duplex:
/// the other direction shares its wire.
void report_link(const LinkEnd& end, bool shared, double length, MeasureSink& sink);

}  // namespace cxloom

// What is measured of each direction of a link: the keys of `per_link`.
#pragma once

#include <vector>

#include "base/measure.hpp"

namespace cxloom {

class LinkEnd;

/// Those that are tables of their own, which the summary adds: of classes, and of flits where there are some.
inline constexpr MeasureInfo kCreditBlockedByClass{
    "credit_blocked_ns_by_class", "ns",
    "the same by class: it had messages and no credit; those of zero are left out"};
inline constexpr MeasureInfo kLinkFlits{"flits", "",
                                        "of a link with a phy, its flits, their slots and errors"};

/// All of them, in their order.
std::vector<MeasureInfo> link_measures();
/// Those of the direction that an end sends, in a window of `length` nanoseconds that was closed, without the tables.
void report_link(const LinkEnd& end, double length, MeasureSink& sink);

}  // namespace cxloom

// What tests of single flows of coherence share: the times of their systems, and the letters of their
// accesses.
#pragma once

#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

// The parts of a flow.
inline constexpr Time kProcess{10'000};
inline constexpr Time kCache{12'000};
inline constexpr Time kWay{
    50'000};  ///< between a requester and the home: a port of 25 ns at each end of the link
inline constexpr Time kLookup{7'000};
inline constexpr Time kController{40'000};
inline constexpr Time kRead{45'000};
inline constexpr Time kWrite{60'000};
inline constexpr Time kMemoryRead = kController + kRead;
inline constexpr Time kMemoryWrite = kController + kWrite;
/// From a request's start until the home has looked it up: of another device, and of that which has the
/// memory.
inline constexpr Time kThere = kProcess + kCache + kWay + kLookup;
inline constexpr Time kInside = kProcess + kCache + kLookup;
inline constexpr Time kSnoop = kWay + kCache + kWay;  ///< the home asks a cache
/// What a snooped cache has modified goes to the home and into the memory before the answer.
inline constexpr Time kWriteBack = kWay + kLookup + kMemoryWrite + kWay;

inline constexpr AccessKind R = AccessKind::kRead;
inline constexpr AccessKind W = AccessKind::kWrite;
inline constexpr AccessKind A = AccessKind::kAtomic;

}  // namespace cxloom::test

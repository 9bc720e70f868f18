// All modes of flits, for tests that go through them.
#pragma once

#include "protocol/flit/geometry.hpp"

namespace cxloom::test {

inline constexpr FlitMode kFlitModes[] = {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo,
                                          FlitMode::k256BPbr};

}  // namespace cxloom::test

// The victim policies that come with cxloom.
#pragma once

#include "tags/victim_policy.hpp"

namespace cxloom::test {

const VictimRegistry& victims();

}  // namespace cxloom::test

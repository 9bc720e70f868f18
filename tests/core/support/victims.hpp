// The kinds of which caches are made that come with cxloom.
#pragma once

#include "tags/cache_kinds.hpp"

namespace cxloom::test {

const VictimRegistry& victims();
CacheKinds cache_kinds();

}  // namespace cxloom::test

// What media find of other kinds: those that come with cxloom.
#pragma once

#include "memory/media/context.hpp"

namespace cxloom::test {

const MediaRegistry& media_kinds();

}  // namespace cxloom::test

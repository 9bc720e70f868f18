// An object of a program, and its addresses.
#pragma once

#include <string>

#include "base/units.hpp"

namespace cxloom {

struct ObjectRange {
  std::string name;
  Address base;
  Bytes size;
};

}  // namespace cxloom

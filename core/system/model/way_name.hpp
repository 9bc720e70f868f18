// What people call the directions of links.
#pragma once

#include <string>

#include "interconnect/link/end.hpp"
#include "system/model/system.hpp"

namespace cxloom {

/// "a->b" of the link "a-b", and "a->b#2" of "a-b#2", the second of parallel links.
inline std::string way_name(const System::LinkView& link, const LinkEnd& end) {
  const std::string way = end.name();
  return way + link.name.substr(way.size() - 1);
}

}  // namespace cxloom

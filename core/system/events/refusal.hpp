// An event that cannot happen.
#pragma once

#include <string>

#include "base/error.hpp"

namespace cxloom {

[[noreturn]] inline void refuse_event(const std::string& problem, const std::string& found,
                                      const std::string& allowed) {
  throw InputError({problem, found, allowed, {}});
}

}  // namespace cxloom

// Numbers of three digits, for people.
#pragma once

#include <string>

namespace cxloom {

/// A number to three digits: "0.0123".
std::string rounded_text(double number);

}  // namespace cxloom

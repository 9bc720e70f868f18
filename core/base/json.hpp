// JSON to plain values and back: what programs without Python exchange with the simulator. The core depends
// on no library, so that a program that embeds it needs none either.
#pragma once

#include <string>
#include <string_view>

#include "base/value.hpp"

namespace cxloom {

/// Reads one JSON text (RFC 8259), at most 100 levels deep. Whole numbers must fit 64 bits, keys of an object
/// differ. Throws InputError with the line of the error.
Value parse_json(std::string_view text);

/// Writes it in one line, numbers so that they are read back as they were. Numbers that JSON does not have
/// are null.
std::string to_json(const Value& value);

}  // namespace cxloom

// An option of a plug-in, as QEMU hands it on: KEY=VALUE.
#pragma once

#include <cstring>

namespace cxloom::qemu {

/// The value if the argument is one for that key, else null.
inline const char* value_of(const char* argument, const char* key) {
  const std::size_t length = std::strlen(key);
  return std::strncmp(argument, key, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                             : nullptr;
}

}  // namespace cxloom::qemu

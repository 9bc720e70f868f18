// System calls of a program, as its threads tell them.
#pragma once

#include <cstdint>

#include "program/feed/system_call.hpp"

namespace cxloom::test {

// One that may wait, and one that does not.
inline constexpr std::uint32_t kPoll = 7;
inline constexpr std::uint32_t kGetPid = 39;

inline SystemCall call_of(std::uint32_t number, std::uint64_t order = 0) {
  SystemCall call;
  call.number = number;
  call.order = order;
  return call;
}

}  // namespace cxloom::test

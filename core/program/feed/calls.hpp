// System calls as the emulator's plug-in tells them: several words, of which the second is the number in the
// order of calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/feed/record.hpp"
#include "program/feed/system_call.hpp"

namespace cxloom {

/// Reads a call from its `feed::kCallWords` words.
inline SystemCall system_call_of(const std::uint64_t* words) {
  SystemCall call;
  call.number = static_cast<std::uint32_t>(feed::payload(words[0]));
  call.order = words[1];
  for (std::size_t i = 0; i < SystemCall::kArguments; ++i) call.arguments[i] = words[2 + i];
  return call;
}

/// Reads the end of a call from its `feed::kCallEndWords` words. They do not say what it waited for.
inline SystemCallEnd system_call_end_of(const std::uint64_t* words) {
  SystemCallEnd end;
  end.number = static_cast<std::uint32_t>(feed::payload(words[0]));
  end.slept = (words[0] & feed::kSlept) != 0;
  end.order = words[1];
  end.result = static_cast<std::int64_t>(words[2]);
  end.nanoseconds = words[3];
  return end;
}

}  // namespace cxloom

#include "program/feed/thread_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace cxloom {

ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread) {
  if (process == 0 || thread == 0) return ThreadState::kUnknown;
  const std::string name = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat";
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (file < 0) return errno == ENOENT ? ThreadState::kSleeps : ThreadState::kUnknown;
  char text[256];
  const ssize_t count = ::read(file, text, sizeof text);
  const int error = errno;
  ::close(file);
  if (count < 0) return error == ESRCH ? ThreadState::kSleeps : ThreadState::kUnknown;
  // proc(5): number (name) state ...; a name may have brackets.
  const std::string_view said(text, static_cast<std::size_t>(count));
  const std::size_t end = said.rfind(')');
  if (end == std::string_view::npos || end + 2 >= said.size()) return ThreadState::kUnknown;
  const char state = said[end + 2];
  return state == 'R' || state == 'D' ? ThreadState::kRuns : ThreadState::kSleeps;
}

}  // namespace cxloom

#include "system/plugin/trial.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>

#include "base/error.hpp"

namespace cxloom {

namespace {

// Exit codes of the child; any other is the foreign code's own.
constexpr int kPassed = 63;
constexpr int kFailed = 64;           // and the pipe says how
constexpr unsigned kMostSeconds = 5;  // that loading may take
constexpr char kEnd = '\0';           // after each part of a message

int report_to = -1;  // in the child: its end of the pipe

void report(const InputError::Detail& detail) {
  std::string text;
  for (const std::string* part : {&detail.problem, &detail.found, &detail.allowed, &detail.suggestion})
    text += *part + kEnd;
  const ssize_t written = write(report_to, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? kFailed : kFailed + 1);
}

// What initialisers throw nobody can catch: it ends the process.
[[noreturn]] void end_of_child() {
  std::string reason = "it calls std::terminate";
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    reason = std::string("it throws: ") + error.what();
  } catch (...) {
    reason = "it throws what is no std::exception";
  }
  report({"the plug-in ends the program while it is loaded: " + reason, {}, {}, {}});
  _exit(kFailed);
}

[[noreturn]] void child(const std::function<void()>& action) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  for (const int signal : {SIGINT, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  std::set_terminate(&end_of_child);
  try {
    action();
  } catch (const InputError& error) {
    report(error.detail());
  }
  _exit(kPassed);
}

InputError failure(int status, const std::string& told) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFailed) {
    std::array<std::string, 4> parts;
    std::size_t begin = 0;
    for (std::string& part : parts) {
      const std::size_t end = told.find(kEnd, begin);
      if (end == std::string::npos) break;
      part = told.substr(begin, end - begin);
      begin = end + 1;
    }
    return InputError({parts[0], parts[1], parts[2], parts[3]});
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return InputError(
        {"the plug-in is not loaded after " + std::to_string(kMostSeconds) + " seconds", {}, {}, {}});
  }
  const std::string how =
      WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit code " + std::to_string(WEXITSTATUS(status));
  return InputError({"the plug-in ends the program while it is loaded: " + how, {}, {}, {}});
}

}  // namespace

void try_out(const std::function<void()>& action) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;  // no trial, then
  const pid_t process = fork();
  if (process == 0) {
    report_to = ends[1];
    std::signal(SIGALRM, SIG_DFL);
    alarm(kMostSeconds);  // ends this process
    child(action);
  }
  close(ends[1]);
  std::string told;
  std::array<char, 512> part{};
  while (process > 0) {
    const ssize_t count = read(ends[0], part.data(), part.size());
    if (count > 0) told.append(part.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR) break;
  }
  close(ends[0]);
  if (process < 0) return;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kPassed) return;
  throw failure(status, told);
}

}  // namespace cxloom

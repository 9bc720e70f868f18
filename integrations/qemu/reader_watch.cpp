#include "reader_watch.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace cxloom::qemu {

namespace {

constexpr std::size_t kStack = 256 * 1024;
constexpr timespec kPause{0, 100'000'000};
constexpr int kTurnsBehindTheEnd = 300;  // of a run, after which its programs go on by themselves

bool is_unknown(const FeedControl& control) {
  return kill(static_cast<pid_t>(control.reader), 0) != 0 && errno == ESRCH;
}

// A process that nobody has asked for its end is still known by its number. Its child has another parent
// then, and tells the others.
void* watch(void* data) {
  auto& control = *static_cast<FeedControl*>(data);
  const bool is_child = getppid() == static_cast<pid_t>(control.reader);
  for (int turns = 0; turns < kTurnsBehindTheEnd;) {
    const bool left = is_child && getppid() != static_cast<pid_t>(control.reader);
    if (control.orphaned.load() != 0) kill(getpid(), SIGKILL);
    if (control.stop.load() != 0) {
      ++turns;
    } else if (left || is_unknown(control)) {
      control.orphaned.store(1);
      continue;
    }
    nanosleep(&kPause, nullptr);
  }
  return nullptr;
}

}  // namespace

bool is_reader_gone(const FeedControl& control) {
  if (control.orphaned.load() != 0) return true;
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%u/stat", control.reader);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return is_unknown(control);
  char text[512];
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return is_unknown(control);
  text[count] = '\0';
  const char* const state = std::strrchr(text, ')');
  return state != nullptr && (state[2] == 'Z' || state[2] == 'X');
}

void watch_reader(FeedControl& control) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);  // signals are for the program
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  pthread_create(&thread, &attributes, watch, &control);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace cxloom::qemu

#include "control_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cxloom::qemu {

FeedControl* map_control(const char* folder) {
  char name[4096 + 16];
  std::snprintf(name, sizeof name, "%s/control", folder);
  const int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, kFeedControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  auto* const control = static_cast<FeedControl*>(memory);
  return control->mark == FeedControl::kMark && control->version == kFeedVersion ? control : nullptr;
}

void fail(FeedControl& control, const char* format, ...) {
  if (control.failures.fetch_add(1) != 0) return;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(control.failure, sizeof control.failure, format, arguments);
  va_end(arguments);
  control.failed.store(1, std::memory_order_release);
}

void open_ring(const char* folder, FeedControl& control, FeedWriter& writer,
               const FeedWriter::RingIdentity& ring) {
  if (control.stop.load(std::memory_order_relaxed) != 0) {
    writer.mute();
    return;
  }
  const int error = writer.open(folder, control, ring);
  if (error == 0) return;
  fail(control, "a ring of %u words cannot be made: %s",
       ring.kind == FeedRingHead::kThread ? control.thread_words : control.process_words,
       std::strerror(error));
  writer.mute();
}

}  // namespace cxloom::qemu

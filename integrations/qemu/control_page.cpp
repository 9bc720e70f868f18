#include "control_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

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

}  // namespace cxloom::qemu

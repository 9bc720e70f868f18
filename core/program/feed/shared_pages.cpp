#include "program/feed/shared_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace cxloom {

SharedPages SharedPages::of_file(const std::string& name) {
  const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (file < 0) return {};
  struct stat status{};
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    bytes = static_cast<std::size_t>(status.st_size);
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  ::close(file);
  if (memory == MAP_FAILED) return {};
  return {memory, bytes};
}

SharedPages::SharedPages(SharedPages&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedPages::~SharedPages() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace cxloom

// Memory that is shared with another process by way of a file.
#pragma once

#include <cstddef>
#include <string>

namespace cxloom {

/// The shared memory of one file, unmapped at the end.
class SharedPages {
 public:
  SharedPages() = default;
  /// Nothing, of no bytes, if the file is not there or cannot be mapped.
  static SharedPages of_file(const std::string& name);
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages();

  void* at(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  SharedPages(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cxloom

// The function that is the region of interest: where it is in memory, once its file is there.
#pragma once

#include <atomic>
#include <cstdint>

namespace cxloom::qemu {

/// What a thread maps of a file for its code.
struct CodeMapping {
  std::uint64_t at = 0;     ///< in the file
  std::uint64_t bytes = 0;  ///< 0: it is none of that file
};

class RegionFunction {
 public:
  /// `DISTANCE` in bytes from where the first code of the program is, or `DEVICE:INODE:PLACE` in the file of
  /// a library. False if it is neither.
  bool parse(const char* text);

  /// Where it begins; 0: nowhere yet. `start` is where the first code of the program is.
  std::uint64_t entry(std::uint64_t start) {
    if (!in_program_) return entry_.load(std::memory_order_relaxed);
    return start + place_;
  }
  bool is_wanted() const { return in_program_ || inode_ != 0; }

  /// What a call of mmap with these arguments would map of the library.
  CodeMapping maps(std::uint64_t bytes, std::uint64_t protection, std::uint64_t flags, std::uint64_t file,
                   std::uint64_t at) const;
  /// It did, at this address.
  void is_mapped(const CodeMapping& mapping, std::uint64_t address);

 private:
  bool in_program_ = false;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t place_ = 0;  // from the first code of the program, or in the file
  std::atomic<std::uint64_t> entry_{0};
};

}  // namespace cxloom::qemu

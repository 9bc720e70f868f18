// Marks in the code of a program: instructions that do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cxloom::qemu {

/// The number XX of a mark, nopl 0x43584cXX(%rax); 0: the instruction is none.
enum Mark : std::uint8_t {
  kNoMark = 0,
  kRegionBegins = 1,  ///< <cxloom/roi.h>
  kRegionEnds = 2,
  kFence = 5,          ///< <cxloom/persist.h>
  kProgramBegins = 6,  ///< start_program.cpp: a program begins in a guest
  kProgramEnds = 7
};

inline std::uint8_t mark_of(const void* data, std::size_t size) {
  unsigned char bytes[7];
  if (size != sizeof bytes) return kNoMark;
  std::memcpy(bytes, data, size);
  static const unsigned char begin[] = {0x0f, 0x1f, 0x80};
  static const unsigned char end[] = {0x4c, 0x58, 0x43};
  if (std::memcmp(bytes, begin, sizeof begin) != 0 || std::memcmp(bytes + 4, end, sizeof end) != 0)
    return kNoMark;
  return bytes[3];
}

}  // namespace cxloom::qemu

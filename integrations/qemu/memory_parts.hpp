// Where the memory of a guest is in the simulated system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cxloom::qemu {

/// The parts of a guest's memory, of which each lies in one piece in the simulated system.
class MemoryParts {
 public:
  static constexpr std::size_t kMost = 256;

  /// Reads the file `memory` of a folder: a line BEGIN BYTES PLACE for each part, in hexadecimal; bytes from
  /// physical address BEGIN on are at PLACE. False if there is none, or it is none of these.
  bool read(const char* folder);

  /// The place of a byte of the guest's memory. False if the address is of a register of a device.
  bool place_of(std::uint64_t physical, std::uint64_t& place) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (physical - parts_[i].begin >= parts_[i].bytes) continue;
      place = physical - parts_[i].begin + parts_[i].place;
      return true;
    }
    return false;
  }

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
  };
  Part parts_[kMost];
  std::size_t count_ = 0;
};

}  // namespace cxloom::qemu

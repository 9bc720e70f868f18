// What processors write into their local interrupt controllers to interrupt each other (Intel SDM, volume 3,
// 12.6.1; xAPIC mode).
#pragma once

#include <cstdint>

namespace cxloom::qemu {

/// The interrupt command register of one processor.
class InterruptCommand {
 public:
  /// Whether a physical address is in the page of local interrupt controllers.
  static constexpr bool has(std::uint64_t physical) { return physical >> 12U == 0xFEE00; }
  /// A processor writes there; true if it sends an interrupt by that.
  bool write(std::uint64_t physical, std::uint32_t value) {
    const std::uint64_t offset = physical & 0xFFFU;
    if (offset == kDestination) destination_ = value >> 24U;
    if (offset == kCommand) command_ = value;
    return offset == kCommand;
  }
  /// Whether the interrupt that was sent last is for that processor. Their identities are their numbers, and
  /// logical ones have a bit for each, as Linux has them (flat).
  bool is_for(unsigned processor, unsigned sender) const {
    switch (command_ >> 18U & 3U) {
      case 0: break;
      case 1: return processor == sender;
      case 2: return true;
      default: return processor != sender;
    }
    const bool logical = (command_ >> 11U & 1U) != 0;
    if (logical) return processor < 8 && (destination_ >> processor & 1U) != 0;
    return destination_ == 0xFF ? processor != sender : destination_ == processor;
  }

 private:
  static constexpr std::uint64_t kCommand = 0x300;
  static constexpr std::uint64_t kDestination = 0x310;

  std::uint32_t command_ = 0;
  std::uint32_t destination_ = 0;
};

}  // namespace cxloom::qemu

// What a running program did, as the emulator's plug-in reports it: one record of eight bytes for each basic
// block that is entered and for each access to memory. What a block consists of is said once
// (program/feed/block.hpp).
#pragma once

#include <cstdint>

namespace cxloom {

/// A record that is no access: bit 63 is set, the kind stands in bits 56 to 62, what it is about below.
enum class FeedEvent : std::uint8_t {
  kBlock = 1,  ///< the thread enters a block; its number
  kSystemCall =
      2,  ///< the thread calls the kernel; number of the call; seven words follow: its order, six arguments
  kSystemCallEnd =
      3,  ///< the call is back; its number, and `feed::kSlept`; order, result and nanoseconds follow
  /// A processor of a machine is about to access a page. The number of the page, and five words: its place,
  /// and the places of the entries of page tables that lead to it, the nearest to the page first; 0: none.
  kPage = 5,
  kAgain = 4,  ///< the thread has left its block before one of its instructions, and does it in another
               ///< block, which begins with it; the number of that block
  /// A processor of a machine accesses what is in none of its memories: a register of a device.
  kRegister = 6,
  /// A processor of a machine goes on in a process. The number of its address space; its number as a process,
  /// the address space of its parent, and two words of name follow.
  kProcess = 7,
  /// An address space of a machine has a mapping, which is new or was changed. Its number; begin, end and
  /// four words of name follow. An empty mapping: the address space is gone.
  kMapping = 8
};

namespace feed {

inline constexpr unsigned kAddressBits = 48;
inline constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;
inline constexpr std::uint64_t kPayloadMask = (std::uint64_t{1} << 56U) - 1;
/// Instructions in a block, at most: their indices have nine bits.
inline constexpr std::uint32_t kMostInstructions = 512;
inline constexpr std::uint32_t kCallWords = 8;
inline constexpr std::uint32_t kCallEndWords = 4;
inline constexpr unsigned kPageBits = 12;
inline constexpr unsigned kPageLevels = 4;  ///< of page tables
inline constexpr std::uint32_t kPageWords = 2 + kPageLevels;
inline constexpr std::uint32_t kProcessNameWords = 2;
inline constexpr std::uint32_t kProcessWords = 3 + kProcessNameWords;
inline constexpr std::uint32_t kMappingNameWords = 4;
inline constexpr std::uint32_t kMappingWords = 3 + kMappingNameWords;
/// The thread gave its processor up within the call.
inline constexpr std::uint64_t kSlept = std::uint64_t{1} << 32U;

/// The part of an access record known when its instruction is translated; the rest is added when it happens.
constexpr std::uint64_t access_of(std::uint32_t instruction) {
  return static_cast<std::uint64_t>(instruction) << 53U;
}
/// `directions`: 1 it reads, 2 it writes, 3 both at once.
constexpr std::uint64_t access(std::uint64_t of, std::uint64_t address, unsigned log2_size,
                               unsigned directions) {
  return of | (address & kAddressMask) | static_cast<std::uint64_t>(log2_size & 7U) << kAddressBits |
         static_cast<std::uint64_t>(directions & 3U) << 51U;
}
constexpr std::uint64_t event(FeedEvent kind, std::uint64_t payload) {
  return std::uint64_t{1} << 63U | static_cast<std::uint64_t>(kind) << 56U | (payload & kPayloadMask);
}

constexpr bool is_event(std::uint64_t record) { return record >> 63U != 0; }
constexpr FeedEvent event_kind(std::uint64_t record) { return static_cast<FeedEvent>(record >> 56U & 0x7FU); }
constexpr std::uint64_t payload(std::uint64_t record) { return record & kPayloadMask; }

/// Words of a record that a machine alone has; 0: it is none.
constexpr std::uint32_t words_of_machine(FeedEvent kind) {
  switch (kind) {
    case FeedEvent::kPage: return kPageWords;
    case FeedEvent::kRegister: return 1;
    case FeedEvent::kProcess: return kProcessWords;
    case FeedEvent::kMapping: return kMappingWords;
    default: return 0;
  }
}

constexpr std::uint64_t address(std::uint64_t record) { return record & kAddressMask; }
constexpr std::uint32_t size(std::uint64_t record) { return 1U << (record >> kAddressBits & 7U); }
constexpr bool reads(std::uint64_t record) { return (record >> 51U & 1U) != 0; }
constexpr bool writes(std::uint64_t record) { return (record >> 52U & 1U) != 0; }
constexpr std::uint32_t instruction(std::uint64_t record) {
  return static_cast<std::uint32_t>(record >> 53U & 0x1FFU);
}

}  // namespace feed
}  // namespace cxloom

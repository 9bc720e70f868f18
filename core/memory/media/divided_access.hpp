// Accesses to media that work in blocks: what each wants of which block, and its end with the last of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/units.hpp"
#include "kernel/pool.hpp"
#include "memory/media/context.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// A message, until all its blocks are done.
struct DividedAccess {
  DividedAccess* next = nullptr;
  Message* message = nullptr;
  Address address;
  Time ready;
  std::uint64_t pieces = 0;  ///< not done yet
};

/// What an access wants of one block.
struct BlockPiece {
  BlockPiece* next = nullptr;
  DividedAccess* access = nullptr;
  std::uint64_t block = 0;
  std::uint64_t parts = 0;  ///< a bit each
  Time start;               ///< from here on something works on it
};

class DividedAccesses {
 public:
  /// Bytes of a block, and of the parts that it consists of: powers of two, 64 parts at most.
  DividedAccesses(Bytes block, Bytes part)
      : block_bits_(static_cast<unsigned>(std::countr_zero(block.count()))),
        part_bits_(static_cast<unsigned>(std::countr_zero(part.count()))) {}

  DividedAccess& take(Message& message, Address address, Time ready) {
    DividedAccess& access = accesses_.take();
    access.message = &message;
    access.address = address;
    access.ready = ready;
    return access;
  }
  /// Gives `serve` the pieces of an access, in the order of addresses.
  template <class Serve>
  void divide(DividedAccess& access, Serve serve) {
    std::uint64_t part = access.address.value() >> part_bits_;
    const std::uint64_t last =
        (access.address.value() + std::max<std::uint64_t>(access.message->size, 1) - 1) >> part_bits_;
    const unsigned bits = block_bits_ - part_bits_;
    const std::uint64_t in_block = (std::uint64_t{1} << bits) - 1;
    access.pieces = (last >> bits) - (part >> bits) + 1;
    while (part <= last) {
      const std::uint64_t end = std::min(last, part | in_block);
      BlockPiece& piece = pieces_.take();
      piece.access = &access;
      piece.block = part >> bits;
      piece.parts = (~std::uint64_t{0} >> (63 - (end - part))) << (part & in_block);
      part = end + 1;
      serve(piece);
    }
  }
  /// A piece is done at `now`: of an access to several blocks the last one counts. What it took beyond the
  /// work on it, it waited.
  void finish(BlockPiece& piece, Time now, MediaClient& client) {
    DividedAccess& access = *piece.access;
    const Time start = piece.start;
    pieces_.give_back(piece);
    if (--access.pieces > 0) return;
    Message& message = *access.message;
    message.charge(Segment::kMediaQueue, std::max(access.ready, start));
    message.charge(Segment::kMedia, now);
    accesses_.give_back(access);
    client.media_done(message, now);
  }

 private:
  unsigned block_bits_;
  unsigned part_bits_;
  Pool<DividedAccess> accesses_;
  Pool<BlockPiece> pieces_;
};

}  // namespace cxloom

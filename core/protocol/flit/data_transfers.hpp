// The data of messages whose headers have gone: they follow in the next slots, oldest first.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "protocol/flit/flit.hpp"

namespace cxloom {

class DataTransfers {
 public:
  /// Slots, trailers included.
  unsigned waiting() const { return waiting_; }

  /// The data of one message more: so many slots, of which the last may be a trailer.
  void push(unsigned slots, bool trailer) {
    ensure(count_ < kMost, "more data under way than a flit format allows");
    transfers_[(first_ + count_++) % kMost] = static_cast<std::uint8_t>(slots | (trailer ? kTrailer : 0U));
    waiting_ += slots;
  }

  /// Puts them into the slots from `slot` up to `end`, which are data slots already. Returns the slot behind
  /// the last one used.
  unsigned place(Flit& flit, unsigned slot, unsigned end);

 private:
  static constexpr unsigned kMost = 32;
  static constexpr std::uint8_t kSlots = 0x7;     // of a transfer: slots left
  static constexpr std::uint8_t kTrailer = 0x80;  // and whether the last is a trailer

  std::array<std::uint8_t, kMost> transfers_{};
  unsigned first_ = 0;
  unsigned count_ = 0;
  unsigned waiting_ = 0;
};

}  // namespace cxloom

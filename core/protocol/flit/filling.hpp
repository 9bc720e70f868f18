// What the packers of both families of formats share: one flit while it is being filled with messages of an
// offer and with the data under way.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "protocol/flit/class_turns.hpp"
#include "protocol/flit/flit.hpp"
#include "protocol/flit/offer.hpp"
#include "protocol/flit/slot_tables.hpp"

namespace cxloom {

/// The data of messages whose headers have gone: they follow in the next slots, oldest first.
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

/// The state that goes on from flit to flit.
struct PackerState {
  const SlotTables* tables;
  ClassTurns turns;
  DataTransfers data;
};

struct FlitFilling {
  /// A slot format, and the messages of each class in it.
  struct Choice {
    ClassNibbles counts = 0;  ///< none: no message can go
    std::uint8_t format = 0;  ///< its place in slot_formats()
    std::uint8_t lead = 0;    ///< the class whose turn it is
    bool shared = false;      ///< others wanted the slot
  };

  PackerState& state;
  const Offer& offer;
  Flit& flit;
  ClassNibbles left;          ///< messages of the offer that are not placed yet
  ClassNibbles room;          ///< messages that the largest counts still allow
  ClassNibbles placed = 0;    ///< messages placed; a user with rolling counts sets it back
  bool data_headers = false;  ///< placed in this flit

  /// The format for a slot, of messages of the classes in `allowed`: with the leading class, the one that
  /// carries most; of two that carry as many, that with more of the leading class if a queue of it waits: in
  /// 68B, completions then go by twos, which cost less (Packer68).
  Choice choose(SlotType type, ClassNibbles allowed);
  /// Fills a slot with these messages, or leaves it empty if there are none.
  void place(unsigned slot, SlotType type, const Choice& choice);
  /// Both. False, and an empty slot, if no message can go.
  bool place_messages(unsigned slot, SlotType type, ClassNibbles allowed) {
    const Choice choice = choose(type, allowed);
    place(slot, type, choice);
    return choice.counts != 0;
  }
  /// Puts data under way into the slots from `slot` up to `end`. Returns the slot behind the last one used.
  unsigned place_data(unsigned slot, unsigned end) { return state.data.place(flit, slot, end); }
  void leave_empty(unsigned slot) {
    flit.slot[slot] = {SlotKind::kEmpty, 0};
    ++flit.count(SlotKind::kEmpty);
  }
  /// Messages of a class that this flit has.
  unsigned taken(Channel channel) const { return nibble_at(offer.counts() - left, channel); }

 private:
  unsigned lead_of(const SlotTables::ForSlot& table, ClassNibbles available, ClassNibbles ready);
  ClassNibbles without_single(Channel channel, ClassNibbles fits) const;
  void place_headers(unsigned slot, Channel channel, unsigned count);
  void place_data_headers(unsigned slot, Channel channel, unsigned count);
  void take(Channel channel, unsigned count);
};

}  // namespace cxloom

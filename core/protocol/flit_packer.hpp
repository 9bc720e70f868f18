// Packs the messages of the twelve CXL.cache and CXL.mem classes into flits, by the rules of
// docs/model/flit.md.
//
// The packer knows counts, not messages. Whoever drives it keeps one queue per class, and one of the
// messages whose data is under way:
//
//   offer.set(channel, queue.size());       for each class that may go now (credits!)
//   packer.pack(offer, flit);
//   for each of flit.message:  take the head of that class's queue; with data, it joins those under way
//   for each of flit.end:      the first of those under way is complete
//
// and goes on as long as something is offered or `must_continue()`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "protocol/flit.hpp"
#include "protocol/flit_format.hpp"
#include "protocol/slot_tables.hpp"

namespace cxloom {

struct IsolatedFlits;

/// What may go into the next flit: how many messages of each class, and the data of each. It may be kept from
/// flit to flit and brought up to date where queues change.
class Offer {
 public:
  /// More of a class than this may wait, but no flit takes more: twice the largest count of 128 B.
  static constexpr unsigned kMost = 12;
  /// The same of a class with data: the messages whose data are to be described.
  static constexpr unsigned kMostWithData = 8;

  void set(Channel channel, std::size_t count) {
    counts_ = (counts_ & ~nibble_of(channel, 15)) | nibble_of(channel, std::min<std::size_t>(count, kMost));
  }
  /// The data of the k-th message of a class, k < kMostWithData; 64 B without a trailer unless said
  /// otherwise. Stays until said anew.
  void set_data(Channel channel, std::size_t k, DataShape shape) {
    std::uint32_t& all = shapes_[static_cast<std::size_t>(channel)];
    const unsigned shift = static_cast<unsigned>(k) * 4;
    all = (all & ~(15U << shift)) | ((shape.chunks | (shape.trailer ? kTrailer : 0U)) << shift);
  }

  bool empty() const { return counts_ == 0; }
  unsigned count(Channel channel) const { return nibble_at(counts_, channel); }
  DataShape data(Channel channel, std::size_t k) const { return decode(shapes(channel) >> (k * 4)); }

 private:
  friend class FlitPacker;
  static constexpr std::uint32_t kTrailer = 8;
  static constexpr std::uint32_t kWholeLines = 0x44444444;

  static DataShape decode(std::uint32_t code) {
    return {static_cast<std::uint8_t>(code & 7U), (code & kTrailer) != 0};
  }
  std::uint32_t shapes(Channel channel) const { return shapes_[static_cast<std::size_t>(channel)]; }

  ClassNibbles counts_ = 0;
  // Four bits per message: chunks, and whether a trailer follows.
  std::array<std::uint32_t, kChannelCount> shapes_{
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines,
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines};
};

/// A flit format and its options.
struct FlitPacking {
  FlitMode mode = FlitMode::k68B;
  /// Flits whose integrity check (IDE) shares one MAC slot; 0: no integrity checks. The specification's are 5
  /// (68B) and 2.
  std::uint8_t mac_every = 0;
  /// Allow the formats that cut off a message's last, reserved, bits (H4 and H14 of PBR messages, HS4, HS14).
  bool zero_extended = true;
};

class FlitPacker {
 public:
  explicit FlitPacker(const FlitPacking& packing);

  /// Fills the next flit: data under way first, then messages of the offer, as many as the format takes; the
  /// rest of the slots stay empty. Classes take turns. With nothing to send it gives a control flit
  /// (pack_control). Throws InternalError for what the format cannot carry: BISnp and BIRsp in 68B, half
  /// transfers in 256B or of M2S data.
  void pack(const Offer& offer, Flit& flit);

  /// A flit without messages, for credits (68B: an LLCRD flit; 256B: an empty flit). Flits that no MAC covers
  /// yet get theirs in it. Not while data is under way: an all-data flit may be due.
  void pack_control(Flit& flit);

  /// Data or a MAC is under way, so that a flit must follow even if nothing new is offered.
  bool must_continue() const { return data_waiting_ > 0 || mac_due_; }
  /// Data slots (trailers included) of messages whose header has gone.
  unsigned data_waiting() const { return data_waiting_; }
  /// Flits since the last MAC, which no MAC covers yet; an idle end sends it early (pack_control).
  unsigned unchecked_flits() const { return unchecked_flits_; }

  /// Nothing that went before matters to the next flit: a message that goes alone takes its isolated_flits().
  bool fresh() const { return data_waiting_ == 0 && last_group_ == 0 && packing_.mac_every == 0; }

  FlitMode mode() const { return packing_.mode; }
  const FlitPacking& packing() const { return packing_; }

 private:
  /// What is still to be placed in the flit that is being filled.
  struct Filling;

  bool is_lone(const Offer& offer) const;
  void pack_lone(const IsolatedFlits& isolated, Flit& flit);
  void pack_68b(const Offer& offer, Flit& flit);
  void pack_256b(const Offer& offer, Flit& flit);
  void start(Flit& flit) const;
  bool place_mac(Flit& flit);
  void place_header_68b(Filling& filling);
  bool place_messages(Filling& filling, unsigned slot, SlotType type, ClassNibbles allowed);
  ClassNibbles leaders(const Filling& filling, const SlotTables::ForSlot& table,
                       ClassNibbles available) const;
  unsigned lead_class(const Filling& filling, ClassNibbles ready);
  static ClassNibbles without_single(const Filling& filling, Channel channel, ClassNibbles fits);
  static void place_headers(Filling& filling, unsigned slot, Channel channel, unsigned count);
  void place_data_headers(Filling& filling, unsigned slot, Channel channel, unsigned count);
  unsigned well_placed(const Filling& filling, Channel channel, unsigned count) const;
  unsigned place_data(Flit& flit, unsigned slot, unsigned end);
  void push_transfer(DataShape shape);
  void count_for_mac(const Flit& flit);

  FlitPacking packing_;
  const SlotTables* tables_;
  const std::array<IsolatedFlits, kChannelCount>* isolated_ = nullptr;  // none with integrity checks
  ClassNibbles last_group_ = 0;  // messages of each class in the last slots of the flit before (256B)
  unsigned turn_ = 0;            // the class after the one that led last by its length
  unsigned round_ = 0;           // ... and by the round of all classes
  std::uint32_t beat_ = 0;       // decides between lengths and the round
  unsigned data_waiting_ = 0;
  unsigned unchecked_flits_ = 0;
  bool mac_due_ = false;
  // Transfers of data under way, oldest first: slots left of each, and whether the last one is a trailer.
  static constexpr unsigned kMostTransfers = 32;
  std::array<std::uint8_t, kMostTransfers> transfers_{};
  unsigned first_transfer_ = 0;
  unsigned transfer_count_ = 0;
};

}  // namespace cxloom

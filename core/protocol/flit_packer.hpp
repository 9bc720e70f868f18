// Packs the messages of the twelve CXL.cache and CXL.mem classes into flits, by the rules of docs/model/flit.md.
//
// The packer knows counts, not messages. Whoever drives it keeps a queue of messages a class, and one of the messages
// whose data is under way:
//
//   offer.set(channel, queue.size());       for each class that may go now (credits!)
//   packer.pack(offer, flit);
//   for each of flit.message:  take the head of that class's queue; if the class has data, put it behind the others
//   for each of flit.end:      the first of those with data under way is complete
//
// and goes on as long as something is offered or `must_continue()`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "protocol/flit.hpp"
#include "protocol/flit_format.hpp"

namespace cxloom {

/// Data behind a message's header.
struct DataShape {
  std::uint8_t chunks = 4;  ///< of 16 B: 4, or 2 for a half transfer (68B, not M2S)
  bool trailer = false;     ///< byte enables: one slot more

  std::uint8_t slots() const { return static_cast<std::uint8_t>(chunks + (trailer ? 1 : 0)); }
};

/// Whether messages of a class carry data behind their header.
constexpr bool is_data_class(Channel channel) {
  return channel == Channel::kM2SRwD || channel == Channel::kS2MDRS || channel == Channel::kD2HData ||
         channel == Channel::kH2DData;
}

/// What may go into the next flit: how many messages of each class, and the data of each. It may be kept from flit to
/// flit and brought up to date where queues change.
class Offer {
 public:
  /// More of a class than this may wait, but no flit takes more.
  static constexpr unsigned kMost = 8;

  void set(Channel channel, std::size_t count) {
    const auto index = static_cast<std::size_t>(channel);
    counts_[index] = static_cast<std::uint8_t>(std::min<std::size_t>(count, kMost));
    const std::uint32_t bit = 1U << index;
    classes_ = count > 0 ? classes_ | bit : classes_ & ~bit;
  }
  /// The data of the k-th message of a class; 64 B without a trailer unless said otherwise. Stays until said anew.
  void set_data(Channel channel, std::size_t k, DataShape shape) {
    std::uint32_t& all = shapes_[static_cast<std::size_t>(channel)];
    const unsigned shift = static_cast<unsigned>(k) * 4;
    all = (all & ~(0xFU << shift)) | ((shape.chunks | (shape.trailer ? kTrailer : 0U)) << shift);
  }

  bool empty() const { return classes_ == 0; }
  std::uint32_t classes() const { return classes_; }  ///< a bit for each class that has messages
  unsigned count(Channel channel) const { return counts_[static_cast<std::size_t>(channel)]; }
  DataShape data(Channel channel, std::size_t k) const {
    const std::uint32_t code = shapes_[static_cast<std::size_t>(channel)] >> (k * 4) & 0xFU;
    return {static_cast<std::uint8_t>(code & 7U), (code & kTrailer) != 0};
  }

 private:
  static constexpr std::uint32_t kTrailer = 8;
  static constexpr std::uint32_t kWholeLines = 0x44444444;  // four bits a message

  std::uint32_t classes_ = 0;
  std::array<std::uint8_t, kChannelCount> counts_{};
  std::array<std::uint32_t, kChannelCount> shapes_{
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines,
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines};
};

/// A flit format and its options.
struct FlitPacking {
  FlitMode mode = FlitMode::k68B;
  /// Flits whose integrity check (IDE) shares one MAC slot; 0: no integrity checks. The specification's are 5 (68B) and 2.
  std::uint8_t mac_every = 0;
  /// Allow the formats that cut off a message's last, reserved, bits (H4 and H14 of PBR messages, HS4, HS14).
  bool zero_extended = true;
};

class FlitPacker {
 public:
  explicit FlitPacker(const FlitPacking& packing);

  /// Fills the next flit: data under way first, then messages of the offer, as many as the format takes; the rest of
  /// the slots stay empty. Classes take turns. Throws InternalError for what the format cannot carry (BISnp and BIRsp
  /// in 68B, a half transfer in 256B or of M2S data).
  void pack(const Offer& offer, Flit& flit);

  /// A flit without messages or data, for credits (an LLCRD flit; an empty 256B flit); a MAC that is due goes along.
  void pack_control(Flit& flit);

  /// Data or a MAC is under way, so that a flit must follow even if nothing new is offered.
  bool must_continue() const { return data_waiting_ > 0 || mac_due_; }
  /// Data slots (trailers included) of messages whose header has gone.
  unsigned data_waiting() const { return data_waiting_; }
  /// Flits since the last MAC, which no MAC covers yet; an idle end sends it early (pack_control).
  unsigned unchecked_flits() const { return unchecked_flits_; }

  FlitMode mode() const { return packing_.mode; }

 private:
  FlitPacking packing_;
  unsigned data_waiting_ = 0;
  unsigned unchecked_flits_ = 0;
  bool mac_due_ = false;
};

/// Credits travel by group: a flit returns those of one class of each group.
enum class CreditGroup : std::uint8_t { kRequest, kData, kResponse };
inline constexpr std::size_t kCreditGroupCount = 3;

/// The group of a class. CXL.io has credits of its own (PCIe's), and no group.
CreditGroup credit_group(Channel channel);

/// How many of `pending` credits of a class the field of its group can return in one flit: the largest count that the
/// field encodes (68B: 0, 1, 2, 4 ... 64; 256B: 0, 1, 4, 8, 12, 16).
unsigned largest_credit_return(FlitMode mode, unsigned pending);

}  // namespace cxloom

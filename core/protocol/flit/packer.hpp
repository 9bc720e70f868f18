// Packs the messages of the twelve CXL.cache and CXL.mem classes into flits, by the rules of
// docs/model/flit.md.
//
// The packer knows counts, not messages. Whoever drives it keeps a queue of messages per class, and one of
// the messages whose data is under way:
//
//   offer.set(channel, queue.size());       for each class that may go now (credits!)
//   packer.pack(offer, flit);
//   for each of flit.message:  take the head of that class's queue; with data, it joins the ones under way
//   for each of flit.end:      the first one under way is complete
//
// and goes on as long as something is offered or `must_continue()`.
//
// What fills a flit of slots is the packer of its family, Packer68 or Packer256; both do it by FlitFilling.
// Here is what does not depend on the family: integrity checks, flits without messages, and messages that go
// alone.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/flit/filling.hpp"
#include "protocol/flit/flit.hpp"
#include "protocol/flit/geometry.hpp"
#include "protocol/flit/offer.hpp"
#include "protocol/flit/packer_68.hpp"

namespace cxloom {

struct IsolatedFlits;

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
  bool must_continue() const { return data_waiting() > 0 || mac_due_; }
  /// Data slots (trailers included) of messages whose header has gone.
  unsigned data_waiting() const { return state_.data.waiting(); }
  /// 68B: more data are under way than fit beside a header, so that the next flit is of data alone.
  bool all_data_due() const {
    return packing_.mode == FlitMode::k68B && data_waiting() > Packer68::kFlit.generic_slots();
  }
  /// Flits since the last MAC, which no MAC covers yet; an idle end sends it early (pack_control).
  unsigned unchecked_flits() const { return unchecked_flits_; }

  /// Nothing that went before matters to the next flit: a message that goes alone takes its isolated_flits().
  bool fresh() const { return data_waiting() == 0 && last_group_ == 0 && packing_.mac_every == 0; }

  FlitMode mode() const { return packing_.mode; }
  const FlitPacking& packing() const { return packing_; }

 private:
  bool is_isolated(const Offer& offer) const;
  void pack_isolated(const IsolatedFlits& isolated, Flit& flit);
  void start(Flit& flit) const;
  bool place_mac(Flit& flit);
  void count_for_mac(const Flit& flit);

  FlitPacking packing_;
  const std::array<IsolatedFlits, kChannelCount>* isolated_ = nullptr;  // none with integrity checks
  PackerState state_;
  ClassNibbles last_group_ = 0;  // messages of each class in the last slots of the flit before (256B)
  unsigned unchecked_flits_ = 0;
  bool mac_due_ = false;
};

}  // namespace cxloom

// Fills a flit of 256 B: an H-slot, and generic slots in which data follow their headers without a gap; the
// latency-optimised flit has a second header slot amid them.
#pragma once

#include "protocol/flit/filling.hpp"
#include "protocol/flit/geometry.hpp"

namespace cxloom {

class Packer256 {
 public:
  /// `last`: the messages of each class in the last group of slots of the flit before, with which those of
  /// the first group share a largest count.
  Packer256(FlitFilling& filling, const FlitGeometry& flit, ClassNibbles last)
      : filling_(filling), flit_(flit), last_(last) {
    filling_.room -= last_;
  }

  /// The slots from the `first` on: slot 0 may have a MAC. Returns the messages in the last group.
  ClassNibbles pack(unsigned first);

 private:
  void place_header(unsigned slot, SlotType type);
  bool ends_in_last_group(Channel channel, unsigned slot, unsigned count) const;
  bool keeps_one_back(Channel channel, unsigned count) const;
  bool must_have_data() const;
  void enter_group_of(unsigned slot);

  FlitFilling& filling_;
  const FlitGeometry& flit_;
  unsigned group_ = 0;
  ClassNibbles last_;       // messages of the group before this one
  ClassNibbles split_ = 0;  // messages of the slot that counts in two groups
};

}  // namespace cxloom

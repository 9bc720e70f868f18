#include "protocol/lone_flits.hpp"

namespace cxloom {
namespace {

using ByClass = std::array<LoneFlits, kChannelCount>;

LoneFlits pack_alone(FlitMode mode, bool zero_extended, Channel channel) {
  LoneFlits lone;
  if (largest_count(mode, channel) == 0) return lone;
  // One that checks integrity, after more flits than these: the others take lone messages from this very table.
  FlitPacker packer({.mode = mode, .mac_every = 255, .zero_extended = zero_extended});
  Offer offer;
  offer.set(channel, 1);
  do {
    Flit& flit = lone.flit.at(lone.count++);
    packer.pack(offer, flit);
    offer.set(channel, 0);
    lone.slots = static_cast<std::uint8_t>(lone.slots + flit.slots - flit.count(SlotKind::kEmpty));
    if (lone.count == 1) lone.slots_left = static_cast<std::uint8_t>(packer.data_waiting());
  } while (packer.must_continue());
  const Flit& last = lone.flit.at(lone.count - 1U);
  lone.end_slot = is_data_class(channel) ? last.end[0] : last.message[0].slot;
  return lone;
}

ByClass pack_all(FlitMode mode, bool zero_extended) {
  ByClass all;
  for (std::size_t i = 0; i < kChannelCount; ++i)
    all[i] = pack_alone(mode, zero_extended, static_cast<Channel>(i));
  return all;
}

using ByOption = std::array<std::array<ByClass, 2>, kFlitModeCount>;

ByOption pack_all() {
  ByOption all;
  for (std::size_t mode = 0; mode < kFlitModeCount; ++mode) {
    for (std::size_t option = 0; option < 2; ++option)
      all[mode][option] = pack_all(static_cast<FlitMode>(mode), option == 1);
  }
  return all;
}

}  // namespace

const std::array<LoneFlits, kChannelCount>& lone_flits(FlitMode mode, bool zero_extended) {
  static const ByOption all = pack_all();
  return all[static_cast<std::size_t>(mode)][zero_extended ? 1 : 0];
}

}  // namespace cxloom

#include "protocol/flit/isolated_flits.hpp"

#include "protocol/flit/by_option.hpp"

namespace cxloom {
namespace {

using ByClass = std::array<IsolatedFlits, kChannelCount>;

IsolatedFlits pack_isolated(FlitMode mode, bool zero_extended, Channel channel) {
  IsolatedFlits isolated;
  if (largest_count(mode, channel) == 0) return isolated;
  // One that checks integrity, after more flits than these: the others take isolated messages from this very
  // table.
  FlitPacker packer({.mode = mode, .mac_every = 255, .zero_extended = zero_extended});
  Offer offer;
  offer.set(channel, 1);
  do {
    Flit& flit = isolated.flit.at(isolated.count++);
    packer.pack(offer, flit);
    offer.set(channel, 0);
    isolated.slots = static_cast<std::uint8_t>(isolated.slots + flit.slots - flit.count(SlotKind::kEmpty));
    if (isolated.count == 1) isolated.slots_left = static_cast<std::uint8_t>(packer.data_waiting());
  } while (packer.must_continue());
  const Flit& last = isolated.flit.at(isolated.count - 1U);
  isolated.end_slot = is_data_class(channel) ? last.end[0] : last.message[0].slot;
  return isolated;
}

ByClass pack_all(FlitMode mode, bool zero_extended) {
  ByClass all;
  for (std::size_t i = 0; i < kChannelCount; ++i)
    all[i] = pack_isolated(mode, zero_extended, static_cast<Channel>(i));
  return all;
}

}  // namespace

const std::array<IsolatedFlits, kChannelCount>& isolated_flits(FlitMode mode, bool zero_extended) {
  static const ByOption<ByClass> all(pack_all);
  return all.of(mode, zero_extended);
}

}  // namespace cxloom

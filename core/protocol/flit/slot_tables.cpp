#include "protocol/flit/slot_tables.hpp"

#include "protocol/flit/by_option.hpp"
#include "protocol/flit/flit.hpp"

namespace cxloom {
namespace {

SlotTables::ForSlot make_slot(FlitMode mode, SlotType type, bool zero_extended) {
  SlotTables::ForSlot table;
  const auto formats = slot_formats(mode, type);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const SlotFormat& format = formats[i];
    SlotTables::Format& row = table.formats[i];
    if (format.zero_extended && !zero_extended) continue;
    for (const SlotFormat::Part& part : format.parts) {
      if (part.most == 0) continue;
      row.most |= nibble_of(part.channel, part.most);
      row.parts[row.part_count++] = part.channel;
      if (mode == FlitMode::k68B && is_data_class(part.channel) && part.most > 1) {
        row.several_data = true;
        row.several = part.channel;
      }
      const auto channel = static_cast<std::size_t>(part.channel);
      table.classes |= nibble_of(part.channel, 1);
      const unsigned known = nibble_at(table.most, part.channel);
      if (known < part.most) table.most += nibble_of(part.channel, part.most - known);
      table.of_class[channel][table.format_count[channel]++] = static_cast<std::uint8_t>(i);
    }
  }
  const unsigned kept_back = mode == FlitMode::k256B ? 1 : 2;
  table.enough = table.most;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto channel = static_cast<Channel>(i);
    if (!is_data_class(channel) && nibble_at(table.most, channel) > 1)
      table.enough += nibble_of(channel, kept_back);
  }
  return table;
}

SlotTables make_tables(FlitMode mode, bool zero_extended) {
  SlotTables tables;
  for (const SlotType type : {SlotType::kHeader, SlotType::kGeneric, SlotType::kSecondHeader})
    tables.slot[static_cast<std::size_t>(type)] = make_slot(mode, type, zero_extended);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto channel = static_cast<Channel>(i);
    tables.largest |= nibble_of(channel, largest_count(mode, channel));
  }
  if (mode == FlitMode::k68B) tables.half_transfers = kDataClasses ^ nibble_of(Channel::kM2SRwD, 1);
  return tables;
}

}  // namespace

const SlotTables& slot_tables(FlitMode mode, bool zero_extended) {
  static const ByOption<SlotTables> all(make_tables);
  return all.of(mode, zero_extended);
}

}  // namespace cxloom

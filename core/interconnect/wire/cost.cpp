#include "interconnect/wire/cost.hpp"

#include "interconnect/wire/flit_staging.hpp"
#include "protocol/flit/io_packer.hpp"
#include "protocol/flit/slot_tables.hpp"

namespace cxloom {

WireCost::WireCost(std::uint16_t header, std::uint16_t data_header)
    : data_header_(kUnitsOfByte * data_header) {
  header_.fill(kUnitsOfByte * header);
}

WireCost::WireCost(FlitMode mode) : mode_(mode) {
  const SlotTables& tables = slot_tables(mode, false);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto channel = static_cast<Channel>(i);
    unsigned most = nibble_at(tables.of(SlotType::kGeneric).most, channel);
    if (most == 0) most = nibble_at(tables.of(SlotType::kHeader).most, channel);
    if (most > 0) header_[i] = kUnitsOfByte * kChunkBytes / most;
  }
}

std::uint64_t WireCost::line_units(Channel channel) const {
  const std::uint64_t data = is_data_class(channel) ? kUnitsOfByte * kLineBytes : 0;
  return header_[static_cast<std::size_t>(channel)] + data;
}

std::uint64_t WireCost::units(const Message& message) const {
  const auto which = static_cast<std::size_t>(message.channel);
  if (!mode_) {
    const std::uint64_t payload = message.payload();
    return payload > 0 ? kUnitsOfByte * payload + data_header_ : header_[which];
  }
  if (message.channel == Channel::kIo)
    return kUnitsOfByte *
           io_packet_bytes(*mode_, message.opcode, static_cast<std::uint32_t>(message.payload()));
  const std::uint64_t enables = has_byte_enables(message) ? kUnitsOfByte * kChunkBytes : 0;
  return lines_of(message) * line_units(message.channel) + enables;
}

}  // namespace cxloom

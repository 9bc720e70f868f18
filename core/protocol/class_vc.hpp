// A lane: one of the virtual channels of a message class. Most links have one per class, so that a lane is a class.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/message.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// The most virtual channels that a class has on a link.
inline constexpr unsigned kMostVirtualChannels = 4;
inline constexpr std::size_t kMostLanes = kMostVirtualChannels * kChannelCount;

/// The first virtual channel of each class comes first, in the order of the classes.
using Lane = std::uint8_t;

constexpr Lane lane_of(Channel which, unsigned virtual_channel = 0) {
  return static_cast<Lane>(static_cast<unsigned>(which) + kChannelCount * virtual_channel);
}
/// On the link that the message is on, or waits for.
inline Lane lane_of(const Message& message) { return lane_of(message.channel, message.virtual_channel); }
constexpr std::uint8_t virtual_channel_of(Lane lane) {
  return static_cast<std::uint8_t>(lane / kChannelCount);
}
constexpr Channel class_of(Lane lane) { return static_cast<Channel>(lane % kChannelCount); }

}  // namespace cxloom

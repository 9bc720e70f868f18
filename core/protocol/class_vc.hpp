// A virtual channel: one of the virtual channels of a message class. Most links have one per class, so that a
// virtual channel is a class.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/message.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// The most virtual channels that a class has on a link.
inline constexpr unsigned kMostVirtualChannels = 4;

/// The first virtual channel of each class comes first, in the order of the classes.
using ClassVc = std::uint8_t;

constexpr ClassVc vc_of(Channel which, unsigned virtual_channel = 0) {
  return static_cast<ClassVc>(static_cast<unsigned>(which) + kChannelCount * virtual_channel);
}
/// On the link that the message is on, or waits for.
inline ClassVc vc_of(const Message& message) { return vc_of(message.channel, message.virtual_channel); }
constexpr std::uint8_t virtual_channel_of(ClassVc vc) {
  return static_cast<std::uint8_t>(vc / kChannelCount);
}
constexpr Channel class_of(ClassVc vc) { return static_cast<Channel>(vc % kChannelCount); }

}  // namespace cxloom

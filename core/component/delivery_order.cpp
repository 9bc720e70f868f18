#include "component/delivery_order.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace cxloom {

std::uint64_t DeliveryOrder::stream_of(NodeId peer, const Message& message) {
  const std::uint64_t lines = mix_bits(LineAddress::of(message.address).number()) & 0xffffU;
  const std::uint64_t which = static_cast<std::uint64_t>(message.channel) << 16U | lines;
  return (std::uint64_t{peer.index()} << 24U | which) + 1;  // zero is no key of a table
}

void DeliveryOrder::number(Message& message) {
  const std::uint64_t stream = stream_of(message.destination, message);
  Cell& cell = sent_.place(stream);
  cell.stream = stream;
  message.order = cell.next++;
}

bool DeliveryOrder::in_turn(Message& message, std::uint64_t stream) {
  Cell& cell = taken_.place(stream);
  cell.stream = stream;
  if (message.order == cell.next) {
    ++cell.next;
    return true;
  }
  held_.push_back({stream, &message});
  return false;
}

Message* DeliveryOrder::next(std::uint64_t stream) {
  if (held_.empty()) return nullptr;
  Cell& cell = taken_.at(stream);
  const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& each) {
    return each.stream == stream && each.message->order == cell.next;
  });
  if (found == held_.end()) return nullptr;
  Message* const message = found->message;
  held_.erase(found);
  ++cell.next;
  return message;
}

}  // namespace cxloom

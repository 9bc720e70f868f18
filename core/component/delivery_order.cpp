#include "component/delivery_order.hpp"

#include "base/random.hpp"

namespace cxloom {

// 18 bits for each end and four for the class. Nobody numbers what it sends to itself, so that no name is zero, which is no key
// of a table.
std::uint64_t DeliveryOrder::stream_of(const Message& message) {
  const std::uint64_t line = mix_bits(LineAddress::of(message.address).number()) & 0xff'ffffU;
  const std::uint64_t ends = std::uint64_t{message.source.index()} << 18U | message.destination.index();
  return (ends << 4U | static_cast<std::uint64_t>(message.channel)) << 24U | line;
}

void DeliveryOrder::number(Message& message) {
  const std::uint64_t name = stream_of(message);
  Stream& stream = under_way_.place(name);
  stream.name = name;
  message.order = stream.sent++;
}

bool DeliveryOrder::in_turn(Message& message, std::uint64_t name) {
  Stream& stream = under_way_.at(name);
  if (message.order == stream.taken) {
    count_taken(stream);
    return true;
  }
  message.next = stream.held;
  stream.held = &message;
  ++held_;
  return false;
}

Message* DeliveryOrder::next(std::uint64_t name) {
  if (held_ == 0) return nullptr;
  if (!under_way_.find(name)) return nullptr;
  Stream& stream = under_way_.at(name);
  for (Message** link = &stream.held; *link; link = &(*link)->next) {
    Message* const message = *link;
    if (message->order != stream.taken) continue;
    *link = message->next;
    message->next = nullptr;
    --held_;
    count_taken(stream);
    return message;
  }
  return nullptr;
}

// Once all are taken, the next one begins anew.
void DeliveryOrder::count_taken(Stream& stream) {
  if (++stream.taken == stream.sent) under_way_.erase(stream.name);
}

}  // namespace cxloom

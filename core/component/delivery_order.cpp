#include "component/delivery_order.hpp"

#include "base/error.hpp"

namespace cxloom {

// Streams share a cell rather than that the table grows, unless it is so full that many do.
DeliveryOrder::Stream& DeliveryOrder::find_or_begin(Stream& cell, std::uint64_t name) {
  for (Stream* stream = &cell; stream; stream = stream->next) {
    if (stream->name == name) return *stream;
  }
  if (streams_ * kRoom < cells_.size()) return begin_behind(cell, name);
  grow();
  Stream& anew = cell_of(name);
  return anew.name == 0 ? begin(anew, name) : begin_behind(anew, name);
}

DeliveryOrder::Stream& DeliveryOrder::begin_behind(Stream& cell, std::uint64_t name) {
  Stream& behind = others_.take();
  behind.next = std::exchange(cell.next, &behind);
  return begin(behind, name);
}

DeliveryOrder::Stream& DeliveryOrder::find_behind(Stream& cell, std::uint64_t name) {
  Stream* stream = cell.next;
  while (stream && stream->name != name) stream = stream->next;
  ensure(stream != nullptr, "a message has come in that nobody has numbered");
  return *stream;
}

// The next one of those behind moves into the cell.
void DeliveryOrder::end(Stream& stream, Stream& cell) {
  Stream* gone = &stream;
  if (&stream == &cell) {
    gone = cell.next;
    cell = *gone;
  } else {
    Stream* before = &cell;
    while (before->next != &stream) before = before->next;
    before->next = stream.next;
  }
  others_.give_back(*gone);
}

void DeliveryOrder::grow() {
  --shift_;
  std::vector<Stream> before(cells_.size() * 2);
  std::swap(before, cells_);
  streams_ = 0;
  const auto move = [&](const Stream& stream) {
    Stream& cell = cell_of(stream.name);
    Stream& moved = cell.name == 0 ? begin(cell, stream.name) : begin_behind(cell, stream.name);
    moved.held = stream.held;
    moved.sent = stream.sent;
    moved.taken = stream.taken;
  };
  for (Stream& cell : before) {
    if (cell.name != 0) move(cell);
    for (Stream* stream = cell.next; stream;) {
      move(*stream);
      others_.give_back(*std::exchange(stream, stream->next));
    }
  }
}

void DeliveryOrder::keep(Message& message, Stream& stream) {
  message.next = stream.held;
  stream.held = &message;
  ++held_;
}

bool DeliveryOrder::forget(const Message& message) {
  const std::uint64_t name = stream_of(message);
  Stream& stream = find(name);
  if (message.order != stream.taken) {
    gone_.emplace(name, message.order);
    return false;
  }
  const bool keeps_some = stream.held != nullptr;
  count_taken(stream);
  return keeps_some;
}

void DeliveryOrder::pass_gone(Stream& stream) {
  while (gone_.erase({stream.name, stream.taken}) > 0) ++stream.taken;
}

Message* DeliveryOrder::next(std::uint64_t name) {
  Stream* stream = &cell_of(name);
  while (stream && stream->name != name) stream = stream->next;
  if (!stream) return nullptr;
  for (Message** link = &stream->held; *link; link = &(*link)->next) {
    Message* const message = *link;
    if (message->order != stream->taken) continue;
    *link = message->next;
    message->next = nullptr;
    --held_;
    count_taken(*stream);
    return message;
  }
  return nullptr;
}

}  // namespace cxloom

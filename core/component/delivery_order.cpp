#include "component/delivery_order.hpp"

#include "base/error.hpp"

namespace cxloom {

DeliveryOrder::Stream* DeliveryOrder::listed(const Bucket& bucket, std::uint64_t name) {
  Stream* stream = list_of(bucket);
  while (stream && stream->name != name) stream = stream->next;
  return stream;
}

DeliveryOrder::Stream& DeliveryOrder::add(Bucket& bucket, std::uint64_t name) {
  Stream& stream = pool_.take();
  stream.name = name;
  stream.taken = first_number(name);
  stream.sent = static_cast<std::uint16_t>(stream.taken + 1);
  stream.next = list_of(bucket);
  bucket = {kListed, payload_of(stream)};
  return stream;
}

void DeliveryOrder::list(Bucket& bucket) {
  if (bucket.first == kListed) return;
  const Bucket alone = std::exchange(bucket, {});
  for (const std::uint64_t name : {alone.first, alone.second}) {
    if (name != kEmpty) add(bucket, name);
  }
}

// Streams share a bucket rather than that the table grows, unless it is so full that many do.
std::uint16_t DeliveryOrder::number_among(std::uint64_t name) {
  Bucket* bucket = &bucket_of(name);
  list(*bucket);
  if (Stream* const stream = listed(*bucket, name)) return stream->sent++;
  if (++streams_ * kRoom > buckets_.size()) {
    grow();
    bucket = &bucket_of(name);
    list(*bucket);
  }
  return add(*bucket, name).taken;
}

bool DeliveryOrder::in_turn_among(Message& message, std::uint64_t name) {
  Bucket& bucket = bucket_of(name);
  Stream* const stream = listed(bucket, name);
  ensure(stream != nullptr, "a message has come in that nobody has numbered");
  if (message.order != stream->taken) {
    keep(message, *stream);
    return false;
  }
  count_taken(bucket, *stream);
  return true;
}

// Once all are taken, the next one begins anew.
void DeliveryOrder::count_taken(Bucket& bucket, Stream& stream) {
  ++stream.taken;
  pass_gone(stream);
  if (stream.taken == stream.sent) end(bucket, stream);
}

void DeliveryOrder::end(Bucket& bucket, Stream& stream) {
  Stream* first = list_of(bucket);
  Stream** link = &first;
  while (*link != &stream) link = &(*link)->next;
  *link = stream.next;
  pool_.give_back(stream);
  --streams_;
  bucket = first ? Bucket{kListed, payload_of(*first)} : Bucket{};
}

void DeliveryOrder::grow() {
  --shift_;
  std::vector<Bucket> before(buckets_.size() * 2);
  std::swap(before, buckets_);
  for (Bucket& each : before) {
    list(each);
    for (Stream* stream = list_of(each); stream;) {
      Stream& moved = *std::exchange(stream, stream->next);
      Bucket& bucket = bucket_of(moved.name);
      list(bucket);
      moved.next = list_of(bucket);
      bucket = {kListed, payload_of(moved)};
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
  Bucket& bucket = bucket_of(name);
  list(bucket);
  Stream* const stream = listed(bucket, name);
  ensure(stream != nullptr, "a message is lost that nobody has numbered");
  if (message.order != stream->taken) {
    gone_.emplace(name, message.order);
    return false;
  }
  const bool keeps_some = stream->held != nullptr;
  count_taken(bucket, *stream);
  return keeps_some;
}

void DeliveryOrder::pass_gone(Stream& stream) {
  while (!gone_.empty() && gone_.erase({stream.name, stream.taken}) > 0) ++stream.taken;
}

Message* DeliveryOrder::next(std::uint64_t name) {
  Bucket& bucket = bucket_of(name);
  Stream* const stream = listed(bucket, name);
  if (!stream) return nullptr;
  for (Message** link = &stream->held; *link; link = &(*link)->next) {
    Message* const message = *link;
    if (message->order != stream->taken) continue;
    *link = message->next;
    message->next = nullptr;
    --held_;
    count_taken(bucket, *stream);
    return message;
  }
  return nullptr;
}

}  // namespace cxloom

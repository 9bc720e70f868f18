#include "component/message_streams.hpp"

#include <utility>

#include "base/error.hpp"

namespace cxloom {

MessageStreams::Stream* MessageStreams::listed(const Bucket& bucket, std::uint64_t name) {
  Stream* stream = list_of(bucket);
  while (stream && stream->name != name) stream = stream->next;
  return stream;
}

void MessageStreams::append(Stream& stream, const Message* message) {
  UnderWay& added = under_way_.take();
  added.message = message;
  (stream.last ? stream.last->next : stream.first) = &added;
  stream.last = &added;
}

void MessageStreams::add(Bucket& bucket, std::uint64_t name, const Message* message) {
  Stream& stream = pool_.take();
  stream.name = name;
  append(stream, message);
  stream.next = list_of(bucket);
  bucket = {kListed, payload_of(stream)};
}

void MessageStreams::list(Bucket& bucket) {
  if (bucket.first == kListed) return;
  const Bucket alone = std::exchange(bucket, {});
  for (const std::uint64_t name : {alone.first, alone.second}) {
    if (name != kEmpty) add(bucket, name, nullptr);
  }
}

// Streams share a bucket rather than that the table grows, unless it is so full that many do.
void MessageStreams::send_among(const Message& message, std::uint64_t name) {
  Bucket* bucket = &bucket_of(name);
  list(*bucket);
  if (Stream* const stream = listed(*bucket, name)) return append(*stream, &message);
  if (++streams_ * kRoom > buckets_.size()) {
    grow();
    bucket = &bucket_of(name);
    list(*bucket);
  }
  add(*bucket, name, &message);
}

// The first one if no other is it, where that was alone. Null: it is none of them.
MessageStreams::UnderWay* MessageStreams::find(const Stream& stream, const Message& message) {
  UnderWay* found = stream.first;
  while (found && found->message != &message) found = found->next;
  return found || stream.first->message ? found : stream.first;
}

bool MessageStreams::in_turn_among(Message& message, std::uint64_t name) {
  Bucket& bucket = bucket_of(name);
  Stream* const stream = listed(bucket, name);
  UnderWay* const found = stream ? find(*stream, message) : nullptr;
  ensure(found != nullptr, "a message has come in that nobody has numbered");
  if (found != stream->first) {
    found->kept = &message;
    ++held_;
    return false;
  }
  take_first(bucket, *stream);
  return true;
}

void MessageStreams::take_first(Bucket& bucket, Stream& stream) {
  UnderWay& taken = *stream.first;
  stream.first = taken.next;
  under_way_.give_back(taken);
  if (!stream.first) end(bucket, stream);
}

void MessageStreams::end(Bucket& bucket, Stream& stream) {
  Stream* first = list_of(bucket);
  Stream** link = &first;
  while (*link != &stream) link = &(*link)->next;
  *link = stream.next;
  pool_.give_back(stream);
  --streams_;
  bucket = first ? Bucket{kListed, payload_of(*first)} : Bucket{};
}

void MessageStreams::grow() {
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

bool MessageStreams::forget(const Message& message, std::uint64_t name) {
  Bucket& bucket = bucket_of(name);
  list(bucket);
  Stream* const stream = listed(bucket, name);
  UnderWay* const found = stream ? find(*stream, message) : nullptr;
  ensure(found != nullptr, "a message is lost that nobody has numbered");
  if (found == stream->first) {
    const bool keeps_next = found->next && found->next->kept;
    take_first(bucket, *stream);
    return keeps_next;
  }
  UnderWay* before = stream->first;
  while (before->next != found) before = before->next;
  before->next = found->next;
  if (stream->last == found) stream->last = before;
  under_way_.give_back(*found);
  return false;
}

Message* MessageStreams::next(std::uint64_t name) {
  Bucket& bucket = bucket_of(name);
  Stream* const stream = listed(bucket, name);
  if (!stream || !stream->first->kept) return nullptr;
  Message* const kept = stream->first->kept;
  --held_;
  take_first(bucket, *stream);
  return kept;
}

}  // namespace cxloom

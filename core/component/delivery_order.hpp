// Keeps messages in order where routes do not: the sender numbers messages that must
// not overtake each other, and the receiver holds back what has come too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "kernel/event_handler.hpp"
#include "kernel/pool.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The streams of a whole system. They know the messages that are under way, and forget a message that was
/// taken. Messages of a class from one endpoint to another about one line stay in order. Lines of one pair
/// and class share a number by a hash of 24 bits, so that a message seldom waits for one of another line.
///
/// Nearly every message is alone in its stream, and few streams meet in a table of buckets for two.
/// A message alone in its stream is only the stream's name in a bucket: a sent message writes it, and a taken
/// one clears it. Where a stream has several messages under way, or more than two streams meet, the bucket
/// has a list.
class DeliveryOrder {
 public:
  /// How many devices may send and receive.
  static constexpr std::size_t kMostEnds = std::size_t{1} << 18U;

  DeliveryOrder() : buckets_(std::size_t{1} << kFirstBits) {}

  /// Messages of this class need numbers to stay in order: all classes but CXL.io, whose routes never change.
  static bool covers(Channel channel) { return channel != Channel::kIo; }
  /// Numbers a message that is sent. The first of a stream has a hash of the stream as its number.
  void number(Message& message) {
    const std::uint64_t name = stream_of(message);
    Bucket& bucket = bucket_of(name);
    std::uint64_t& free = bucket.first == kEmpty ? bucket.first : bucket.second;
    if (free != kEmpty || bucket.first == name || bucket.second == name) [[unlikely]] {
      message.order = number_among(name);
      return;
    }
    free = name;
    ++streams_;
    message.order = first_number(name);
  }

  /// What must be in order with a message. 18 bits for each end and four for the class. Nobody numbers what
  /// it sends to itself, so that no name is kEmpty or kListed.
  static std::uint64_t stream_of(const Message& message) {
    const std::uint64_t line = LineAddress::of(message.address).number() * kMultiplier >> 40U;
    const std::uint64_t ends = std::uint64_t{message.source.index()} << 18U | message.destination.index();
    return (ends << 4U | static_cast<std::uint64_t>(message.channel)) << 24U | line;
  }
  /// Whether it is the turn of a message of this stream that has come in. If it is not, it is kept until
  /// then.
  bool in_turn(Message& message, std::uint64_t name) {
    Bucket& bucket = bucket_of(name);
    if (bucket.first == name) [[likely]] {
      bucket.first = kEmpty;
    } else if (bucket.second == name && bucket.first != kListed) {
      bucket.second = kEmpty;
    } else {
      return in_turn_among(message, name);
    }
    --streams_;
    return true;
  }
  /// The kept message whose turn it is now, which is no longer kept; null if there is none.
  Message* next(std::uint64_t name);
  /// A numbered message never comes in: later ones do not wait for it. True: `next` may have a kept one now.
  bool forget(const Message& message);
  /// The receiver of the messages of a stream.
  static NodeId destination_of(std::uint64_t stream) {
    return NodeId{static_cast<std::uint32_t>((stream >> 28U) & (kMostEnds - 1))};
  }
  /// How many messages are kept.
  std::size_t held() const { return held_; }
  /// How many streams have messages under way.
  std::size_t streams() const { return streams_; }

 private:
  /// A stream that is listed.
  struct Stream {
    std::uint64_t name = 0;
    Message* held = nullptr;  ///< the kept messages, in no order: mostly none, and few
    Stream* next = nullptr;   ///< another one of the same bucket
    std::uint16_t sent = 0;   ///< the next number; fewer are under way than it counts
    std::uint16_t taken = 0;  ///< the number whose turn it is
  };
  /// The names of up to two streams with a message each; or kListed, and where a list of streams begins.
  struct Bucket {
    std::uint64_t first = kEmpty;
    std::uint64_t second = kEmpty;
  };

  // Instead of a name.
  static constexpr std::uint64_t kEmpty = 0;
  static constexpr std::uint64_t kListed = 1;
  // The first bits of a product with it are a hash: 2^64 / the golden ratio, which keeps near numbers apart
  // (Knuth, volume 3, 6.4).
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  static constexpr unsigned kFirstBits = 9;
  static constexpr std::size_t kRoom = 4;  // buckets for each stream, before the table grows

  Bucket& bucket_of(std::uint64_t name) { return buckets_[name * kMultiplier >> shift_]; }
  // Other bits of the same product.
  static std::uint16_t first_number(std::uint64_t name) {
    return static_cast<std::uint16_t>(name * kMultiplier >> 24U);
  }
  std::uint16_t number_among(std::uint64_t name);
  bool in_turn_among(Message& message, std::uint64_t name);
  /// A stream that is listed; null if there is none of that name.
  static Stream* listed(const Bucket& bucket, std::uint64_t name);
  static Stream* list_of(const Bucket& bucket) {
    return bucket.first == kListed ? &object_of<Stream>(bucket.second) : nullptr;
  }
  /// The streams of the bucket are listed from now on.
  void list(Bucket& bucket);
  /// One with a message under way joins the list.
  Stream& add(Bucket& bucket, std::uint64_t name);
  void count_taken(Bucket& bucket, Stream& stream);
  void end(Bucket& bucket, Stream& stream);
  void grow();
  void keep(Message& message, Stream& stream);
  void pass_gone(Stream& stream);

  unsigned shift_ = 64 - kFirstBits;  // 64 less the bits that number a bucket
  std::vector<Bucket> buckets_;
  Pool<Stream> pool_;
  std::size_t streams_ = 0;
  std::size_t held_ = 0;
  std::set<std::pair<std::uint64_t, std::uint16_t>>
      gone_;  // messages to be passed over, by stream and number
};

}  // namespace cxloom

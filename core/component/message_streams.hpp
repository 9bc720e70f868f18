// Which messages of each stream are under way, in the order in which they were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/event_handler.hpp"
#include "kernel/pool.hpp"

namespace cxloom {

struct Message;

/// A stream is a number, neither 0 nor 1. Messages that were taken are forgotten.
///
/// Nearly every message is alone in its stream, and few streams meet in a table of buckets for two. A message
/// alone in its stream is only the stream's name in a bucket: a sent message writes it, and a taken one
/// clears it. Where a stream has several messages under way, or more than two streams meet, the bucket has a
/// list.
class MessageStreams {
 public:
  MessageStreams() : buckets_(std::size_t{1} << kFirstBits) {}

  /// A message of this stream is sent.
  void send(const Message& message, std::uint64_t name) {
    Bucket& bucket = bucket_of(name);
    std::uint64_t& free = bucket.first == kEmpty ? bucket.first : bucket.second;
    if (free != kEmpty || bucket.first == name || bucket.second == name) [[unlikely]] {
      send_among(message, name);
      return;
    }
    free = name;
    ++streams_;
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
  /// A message that was sent never comes in: later ones do not wait for it. True: `next` has a kept one now.
  bool forget(const Message& message, std::uint64_t name);
  /// How many messages are kept.
  std::size_t held() const { return held_; }
  /// How many streams have messages under way.
  std::size_t streams() const { return streams_; }

 private:
  struct UnderWay {
    const Message* message = nullptr;  ///< null: the one that was alone when the stream was listed
    UnderWay* next = nullptr;          ///< sent after it
    Message* kept = nullptr;           ///< the message once it has come in; null: it has not
  };
  /// A stream that is listed.
  struct Stream {
    std::uint64_t name = 0;
    UnderWay* first = nullptr;
    UnderWay* last = nullptr;
    Stream* next = nullptr;  ///< another one of the same bucket
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
  void send_among(const Message& message, std::uint64_t name);
  bool in_turn_among(Message& message, std::uint64_t name);
  /// A stream that is listed; null if there is none of that name.
  static Stream* listed(const Bucket& bucket, std::uint64_t name);
  static Stream* list_of(const Bucket& bucket) {
    return bucket.first == kListed ? &object_of<Stream>(bucket.second) : nullptr;
  }
  /// The streams of the bucket are listed from now on.
  void list(Bucket& bucket);
  /// One with a message under way joins the list.
  void add(Bucket& bucket, std::uint64_t name, const Message* message);
  void append(Stream& stream, const Message* message);
  static UnderWay* find(const Stream& stream, const Message& message);
  void take_first(Bucket& bucket, Stream& stream);
  void end(Bucket& bucket, Stream& stream);
  void grow();

  unsigned shift_ = 64 - kFirstBits;  // 64 less the bits that number a bucket
  std::vector<Bucket> buckets_;
  Pool<Stream> pool_;
  Pool<UnderWay> under_way_;
  std::size_t streams_ = 0;
  std::size_t held_ = 0;
};

}  // namespace cxloom

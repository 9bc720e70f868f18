// Keeps messages in order where routes do not: the sender numbers those that must not overtake each other, and the receiver
// holds back what has come too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "kernel/pool.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Of a whole system: it knows the messages that are under way, and nothing of those that have been taken. In order are the
/// messages of a class from one endpoint to another that are about one line. Lines of one pair and class share a number by a hash
/// of 24 bits: seldom does a message wait for one of another line.
///
/// Nearly every message is alone in its stream, and then two visits to one cell of a table are all: what is sent fills the cell,
/// and what is taken empties it.
class DeliveryOrder {
 public:
  /// How many devices may send and receive.
  static constexpr std::size_t kMostEnds = std::size_t{1} << 18U;

  DeliveryOrder() : cells_(std::size_t{1} << (64U - shift_)) {}

  /// Messages of this class are in order: all but those of CXL.io, whose routes never change.
  static bool covers(Channel channel) { return channel != Channel::kIo; }
  /// Numbers a message that is sent.
  void number(Message& message) {
    const std::uint64_t name = stream_of(message);
    Stream& cell = cell_of(name);
    Stream& stream = cell.name == 0 ? begin(cell, name) : find_or_begin(cell, name);
    message.order = stream.sent++;
  }

  /// What must be in order with a message. 18 bits for each end and four for the class. Nobody numbers what it sends to itself, so
  /// that no name is zero.
  static std::uint64_t stream_of(const Message& message) {
    const std::uint64_t line = LineAddress::of(message.address).number() * kMultiplier >> 40U;
    const std::uint64_t ends = std::uint64_t{message.source.index()} << 18U | message.destination.index();
    return (ends << 4U | static_cast<std::uint64_t>(message.channel)) << 24U | line;
  }
  /// Whether it is the turn of a message of this stream that has come in. If it is not, it is kept until then.
  bool in_turn(Message& message, std::uint64_t name) {
    Stream& stream = find(name);
    if (message.order != stream.taken) [[unlikely]] {
      keep(message, stream);
      return false;
    }
    count_taken(stream);
    return true;
  }
  /// The one that was kept and whose turn it is now, which is no longer kept; null if there is none.
  Message* next(std::uint64_t name);
  /// A message that has been numbered never comes in: those behind it do not wait for it. True: `next` may have one that was kept.
  bool forget(const Message& message);
  /// To whom the messages of a stream go.
  static NodeId destination_of(std::uint64_t stream) {
    return NodeId{static_cast<std::uint32_t>((stream >> 28U) & (kMostEnds - 1))};
  }
  /// How many messages are kept.
  std::size_t held() const { return held_; }
  /// How many streams have messages under way.
  std::size_t streams() const { return streams_; }

 private:
  struct Stream {
    std::uint64_t name = 0;   ///< zero: an empty cell
    Message* held = nullptr;  ///< those that are kept, in no order: mostly none, and few
    Stream* next = nullptr;   ///< another one with the same cell, in `others_`
    std::uint16_t sent = 0;   ///< fewer are under way than it counts
    std::uint16_t taken = 0;
  };

  // The first bits of a product with it are a hash: 2^64 / the golden ratio, which keeps near numbers apart (Knuth, volume 3, 6.4).
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  static constexpr std::size_t kRoom = 4;  // cells for each stream, before the table grows

  Stream& cell_of(std::uint64_t name) { return cells_[name * kMultiplier >> shift_]; }
  Stream& begin(Stream& stream, std::uint64_t name) {
    stream.name = name;
    stream.sent = stream.taken = 0;
    ++streams_;
    return stream;
  }
  /// Which must have messages under way.
  Stream& find(std::uint64_t name) {
    Stream& cell = cell_of(name);
    return cell.name == name ? cell : find_behind(cell, name);
  }
  // Once all are taken, the next one begins anew.
  void count_taken(Stream& stream) {
    ++stream.taken;
    if (!gone_.empty()) [[unlikely]]
      pass_gone(stream);
    if (stream.taken != stream.sent) [[unlikely]]
      return;
    --streams_;
    Stream& cell = cell_of(stream.name);
    if (&stream == &cell && !cell.next) [[likely]] {
      cell.name = 0;
    } else {
      end(stream, cell);
    }
  }
  static Stream& find_behind(Stream& cell, std::uint64_t name);
  void end(Stream& stream, Stream& cell);
  Stream& find_or_begin(Stream& cell, std::uint64_t name);
  Stream& begin_behind(Stream& cell, std::uint64_t name);
  void grow();
  void keep(Message& message, Stream& stream);
  void pass_gone(Stream& stream);

  unsigned shift_ = 64 - 10;  // 64 bits less those that number a cell
  std::vector<Stream> cells_;
  Pool<Stream> others_;
  std::size_t streams_ = 0;
  std::size_t held_ = 0;
  std::set<std::pair<std::uint64_t, std::uint16_t>>
      gone_;  // messages to be passed over, by stream and number
};

}  // namespace cxloom

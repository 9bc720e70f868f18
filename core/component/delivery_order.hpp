// Keeps messages in order where routes do not: the sender numbers those that must not overtake each other, and the receiver
// holds back what has come too early.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/flat_table.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Of a whole system: it knows the messages that are under way, and nothing of those that have been taken. In order are the
/// messages of a class from one endpoint to another that are about one line. Lines of one pair and class share a number by a hash
/// of 24 bits: seldom does a message wait for one of another line.
class DeliveryOrder {
 public:
  /// How many devices may send and receive.
  static constexpr std::size_t kMostEnds = std::size_t{1} << 18U;

  /// Messages of this class are in order: all but those of CXL.io, whose routes never change.
  static bool covers(Channel channel) { return channel != Channel::kIo; }
  /// Numbers a message that is sent.
  void number(Message& message);

  /// What must be in order with a message.
  static std::uint64_t stream_of(const Message& message);
  /// Whether it is the turn of a message of this stream that has come in. If it is not, it is kept until then.
  bool in_turn(Message& message, std::uint64_t stream);
  /// The one that was kept and whose turn it is now, which is no longer kept; null if there is none.
  Message* next(std::uint64_t stream);
  /// How many messages are kept.
  std::size_t held() const { return held_; }
  /// How many streams have messages under way.
  std::size_t streams() const { return under_way_.used(); }

 private:
  struct Stream {
    std::uint64_t name = 0;
    Message* held = nullptr;  ///< those that are kept, in no order: mostly none, and few
    std::uint16_t sent = 0;   ///< fewer are under way than it counts
    std::uint16_t taken = 0;
    std::uint64_t key() const { return name; }
  };

  void count_taken(Stream& stream);

  FlatTable<Stream> under_way_;
  std::size_t held_ = 0;
};

}  // namespace cxloom

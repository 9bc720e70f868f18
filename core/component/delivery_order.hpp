// Keeps messages in order where routes do not: the sender numbers those that must not overtake each other, and the receiver
// holds back what has come too early.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_table.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Of one endpoint, both what it sends and what it receives. In order are the messages of a class from one endpoint to another that
/// are about one line. Lines share their numbers with some others, 65,536 for each pair and class, so that tables stay bounded.
class DeliveryOrder {
 public:
  /// Messages of this class are in order: all but those of CXL.io, whose routes never change.
  static bool covers(Channel channel) { return channel != Channel::kIo; }
  /// Numbers a message that is sent.
  void number(Message& message);

  /// Of a message that has come in: what must be in order with it.
  static std::uint64_t stream_of(const Message& message) { return stream_of(message.source, message); }
  /// Whether it is the turn of a message of this stream. If it is not, it is kept until then.
  bool in_turn(Message& message, std::uint64_t stream);
  /// The one that was kept and whose turn it is now, which is no longer kept; null if there is none.
  Message* next(std::uint64_t stream);
  /// How many messages are kept.
  std::size_t held() const { return held_.size(); }

 private:
  struct Cell {
    std::uint64_t stream = 0;
    std::uint16_t next = 0;  ///< fewer are under way than it counts
    std::uint64_t key() const { return stream; }
  };
  struct Held {
    std::uint64_t stream;
    Message* message;
  };

  static std::uint64_t stream_of(NodeId peer, const Message& message);

  FlatTable<Cell> sent_;
  FlatTable<Cell> taken_;
  std::vector<Held> held_;  // mostly none, and few
};

}  // namespace cxloom

// Keeps messages in order where routes do not: the sender says which messages must not overtake each other,
// and the receiver holds back what has come too early.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "component/message_streams.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The streams of a whole system. They know the messages that are under way. Messages of a class from one
/// endpoint to another about one line stay in order. Lines of one pair and class are one stream if a hash of
/// 24 bits says so: a message seldom waits for one of another line.
///
/// Both ends of a stream have its messages. In a system that is divided among threads these may be at work
/// at the same time. What one of them does to a stream then does not depend on how far the other one is: a
/// message is taken when those that were sent before it have been, all of them in earlier windows.
class DeliveryOrder {
 public:
  /// How many devices may send and receive.
  static constexpr std::size_t kMostEnds = std::size_t{1} << 18U;

  /// `threads`: its ends may be in several.
  explicit DeliveryOrder(bool threads = false);

  /// Messages of this class need an order: all classes but CXL.io, whose routes never change.
  static bool covers(Channel channel) { return channel != Channel::kIo; }
  /// A message is sent. It gets a hash of its stream as its number, for those who draw by it: no other
  /// message changes that.
  void number(Message& message) {
    const std::uint64_t name = stream_of(message);
    message.order = static_cast<std::uint16_t>(name * kMultiplier >> 24U);
    if (count_ == 1) [[likely]]
      return tables_[0].streams.send(message, name);
    table_of(name)->send(message, name);
  }

  /// What must be in order with a message. 18 bits for each end and four for the class. Nobody numbers what
  /// it sends to itself, so that a name is neither 0 nor 1.
  static std::uint64_t stream_of(const Message& message) {
    const std::uint64_t line = LineAddress::of(message.address).number() * kMultiplier >> 40U;
    const std::uint64_t ends = std::uint64_t{message.source.index()} << 18U | message.destination.index();
    return (ends << 4U | static_cast<std::uint64_t>(message.channel)) << 24U | line;
  }
  /// Whether it is the turn of a message of this stream that has come in. If it is not, it is kept until
  /// then.
  bool in_turn(Message& message, std::uint64_t name) {
    if (count_ == 1) [[likely]]
      return tables_[0].streams.in_turn(message, name);
    return table_of(name)->in_turn(message, name);
  }
  /// The kept message whose turn it is now, which is no longer kept; null if there is none.
  Message* next(std::uint64_t name) { return table_of(name)->next(name); }
  /// A message that is under way never comes in: later ones do not wait for it. True: `next` has a kept one
  /// now.
  bool forget(const Message& message) {
    const std::uint64_t name = stream_of(message);
    return table_of(name)->forget(message, name);
  }
  /// The receiver of the messages of a stream.
  static NodeId destination_of(std::uint64_t stream) {
    return NodeId{static_cast<std::uint32_t>((stream >> 28U) & (kMostEnds - 1))};
  }
  /// How many messages are kept.
  std::size_t held() const;
  /// How many streams have messages under way.
  std::size_t streams() const;

 private:
  /// Threads meet here for some ten nanoseconds, seldom at the same table.
  class SpinLock {
   public:
    void lock() {
      while (taken_.test_and_set(std::memory_order_acquire)) wait();
    }
    void unlock() { taken_.clear(std::memory_order_release); }

   private:
    void wait() const;

    std::atomic_flag taken_;
  };
  struct alignas(128) Table {
    SpinLock lock;
    MessageStreams streams;
  };
  /// A table that nobody else has meanwhile.
  class Held {
   public:
    explicit Held(Table& table) : table_(table) { table_.lock.lock(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { table_.lock.unlock(); }
    MessageStreams* operator->() const { return &table_.streams; }

   private:
    Table& table_;
  };

  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;  // as that of MessageStreams
  static constexpr std::size_t kTablesOfThreads = 64;

  // By the hash of the line.
  Held table_of(std::uint64_t name) { return Held(tables_[name & (count_ - 1)]); }

  std::size_t count_;
  std::unique_ptr<Table[]> tables_;
};

}  // namespace cxloom

// A queue at an input of a switch, of the messages of a virtual channel. With virtual output queues all of
// them leave by one port; otherwise each by its own, and the head decides which port the queue asks.
#pragma once

#include <cstdint>

#include "interconnect/wire/virtual_channel.hpp"
#include "protocol/class_vc.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class SwitchCore;

/// One cache line.
class alignas(64) InputQueue final : public Feeder {
 public:
  /// By which a switch finds a queue.
  struct Key {
    std::uint16_t input;
    std::uint16_t output;  ///< of a queue that holds messages to any port: 0
    ClassVc vc;            ///< by which its messages came in
  };

  explicit InputQueue(SwitchCore& core) : core_(core) {}

  /// The queue, which is empty, has this key from now on.
  void move_to(const Key& key) { key_ = key; }
  const Key& key() const { return key_; }
  const EventHandler& owner() const override;
  void push(Message& message, std::uint16_t output);
  Message& head() const override { return queue_.front(); }
  void taken(Time end) override;
  std::uint16_t input() const override;
  bool all_wait() const override;
  void turn_back() override;
  /// The last byte of what was taken is out.
  void left();

 private:
  void ask();
  void go_on();
  void turn_back_all();

  SwitchCore& core_;
  MessageQueue queue_;
  Key key_{};
  bool leaving_ = false;
};

static_assert(sizeof(InputQueue) == 64);

}  // namespace cxloom

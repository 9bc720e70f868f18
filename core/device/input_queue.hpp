// A queue at an input of a switch. With virtual output queues all its messages leave by one port; otherwise each by its own,
// and the head decides which port the queue asks.
#pragma once

#include <cstdint>

#include "component/component.hpp"
#include "interconnect/virtual_channels.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class SwitchCore;

class InputQueue final : public Feeder {
 public:
  InputQueue(SwitchCore& core, std::uint16_t input, Channel channel);

  const EventHandler& owner() const override;
  void push(Message& message, std::uint16_t output);
  Message& head() override { return queue_.front(); }
  void taken(Time end) override;
  /// The last byte of what was taken is out.
  void left();

 private:
  void ask();

  SwitchCore& core_;
  std::uint16_t input_;
  Channel channel_;
  bool leaving_ = false;
  MessageQueue queue_;
};

}  // namespace cxloom

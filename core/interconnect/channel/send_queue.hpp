// The messages of a class that were handed over to a link end with turns, and wait for the wire.
#pragma once

#include "interconnect/wire/virtual_channel.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class VirtualChannels;

class SendQueue final : public Feeder {
 public:
  SendQueue(VirtualChannels& channels, Channel which) : channels_(channels), which_(which) {}

  void push(Message& message);
  const EventHandler& owner() const override;
  Message& head() const override { return queue_.front(); }
  void taken(Time end) override;
  bool all_wait() const override { return true; }
  void turn_back() override;

 private:
  VirtualChannels& channels_;
  MessageQueue queue_;
  Channel which_;
};

}  // namespace cxloom

// Lets messages depart as a plain link end does, in the order in which they are ready, but no sooner than
// their time comes: for a link that may fail, where what has not begun to cross stays with the device in
// front of it.
#pragma once

#include <cstdint>
#include <string>

#include "interconnect/wire/link_path.hpp"
#include "interconnect/wire/transmitter.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class InterruptibleTransmitter final : public Transmitter, public EventHandler {
 public:
  explicit InterruptibleTransmitter(LinkPath& path) : path_(path) {}

  std::string name() const override { return path_.name(); }
  void send(Message& message, Time ready) override;
  Time line_time() const override { return RateMeter(path_.rate()).advance(path_.message_bytes(kLineBytes)); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void interrupt() override;
  void close() override;
  void reopen() override;

 private:
  enum Wake : std::uint8_t { kReady, kWireFree };

  void offer(Message& message);
  void wake_when_free();
  void work_off();

  LinkPath& path_;
  MessageQueue waiting_;
  bool wake_pending_ = false;
};

}  // namespace cxloom

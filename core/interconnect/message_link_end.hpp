// A queued link end whose wire takes a message at a time, at the abstract cost of its bytes.
#pragma once

#include "interconnect/queued_link_end.hpp"

namespace cxloom {

class MessageLinkEnd final : public QueuedLinkEnd {
 public:
  using QueuedLinkEnd::QueuedLinkEnd;

  void send(Message& message, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;

 protected:
  void arrange() override;

 private:
  enum Wake : std::uint8_t { kReady = QueuedLinkEnd::kOwnWakes, kWireFree };

  bool should_yield();  // on a wire that both directions share

  bool settling_ = false;  // asked for the end of this instant
  bool wire_wake_pending_ = false;
  bool wants_wire_ = false;  // something could go but for the wire
};

}  // namespace cxloom

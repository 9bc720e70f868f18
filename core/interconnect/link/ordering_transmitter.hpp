// Lets messages depart in the order in which they are ready, whatever the order in which they are sent: for
// the plain end of a link that several parts of a component share. Without it the departure is known when a
// message is sent.
#pragma once

#include <cstdint>
#include <string>

#include "interconnect/wire/link_path.hpp"
#include "interconnect/wire/transmitter.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

class OrderingTransmitter final : public Transmitter, public EventHandler {
 public:
  explicit OrderingTransmitter(LinkPath& path) : path_(path) {}

  std::string name() const override { return path_.name(); }
  void send(Message& message, Time ready) override {
    Kernel& kernel = path_.kernel();
    if (ready > kernel.now()) {
      kernel.schedule(ready, path_.owner_source(), *this, 0, payload_of(message));
    } else {
      path_.depart(message, ready);
    }
  }
  Time line_time() const override { return RateMeter(path_.rate()).advance(path_.message_bytes(kLineBytes)); }
  void wake(std::uint8_t /*kind*/, std::uint64_t payload) override {
    path_.depart(object_of<Message>(payload), path_.kernel().now());
  }

 private:
  LinkPath& path_;
};

}  // namespace cxloom

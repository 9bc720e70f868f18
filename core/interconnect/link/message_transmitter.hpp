// Takes the wire for a message at a time, at the abstract cost of its bytes.
#pragma once

#include "interconnect/channel/virtual_channels.hpp"
#include "interconnect/wire/transmitter.hpp"

namespace cxloom {

class alignas(64) MessageTransmitter final : public Transmitter,
                                             public WireServer,
                                             public EventHandler,
                                             private BypassSource {
 public:
  MessageTransmitter(LinkPath& path, const VirtualChannels::Setup& setup);

  std::string name() const override { return path_.name(); }
  void send(Message& message, Time ready) override;
  Time line_time() const override;
  VirtualChannels* channels() override { return &channels_; }
  void arrange() override;
  bool idle() const override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;
  void foresee(std::uint8_t kind, std::uint64_t payload) const override;
  void foresee_settle(bool early) const override {
    early ? channels_.foresee_queue() : channels_.foresee_head();
  }
  void interrupt() override;
  void close() override;
  void reopen() override;
  void open_window(Time now) override { channels_.open_window(now); }
  void close_window(Time now) override { channels_.close_window(now); }

 private:
  enum Wake : std::uint8_t { kReady, kWireFree };

  // The owner's messages.
  void queue(Message& message, std::uint16_t output) override;
  void passed(const Message& /*message*/, std::uint16_t /*input*/, Time /*end*/) override {}

  Time depart(Message& message, Time now);
  void pass();
  bool should_yield() const;  // on a wire that both directions share
  void wake_when_free(Time at);

  LinkPath& path_;
  Kernel& kernel_;
  bool settling_ = false;  // asked for the end of this instant
  bool wire_wake_pending_ = false;
  VirtualChannels channels_;
};

}  // namespace cxloom

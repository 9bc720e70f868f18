// The bus of a channel of flash: commands, addresses and data of all its dies pass it, one at a time.
#pragma once

#include <cstdint>

#include "base/intrusive_queue.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"

namespace cxloom {

class Kernel;

class FlashBusUser;

/// A use of the bus.
struct FlashBusUse {
  FlashBusUse* next = nullptr;
  FlashBusUser* user = nullptr;
  Time commands;
  std::uint64_t bytes = 0;
  std::uint32_t index = 0;  ///< the user's own
};

/// A user of the bus.
class FlashBusUser {
 public:
  /// The bus is the user's from now until `end`.
  virtual void granted(const FlashBusUse& use, Time end) = 0;

 protected:
  ~FlashBusUser() = default;
};

/// Uses asked for at one instant have the same chance. Commands without data go first: they are short, and a
/// die that has its command works while data pass. Other uses follow in the order of asking.
class FlashChannel final : public EventHandler {
 public:
  FlashChannel(Kernel& kernel, EventSource& source, const Bandwidth& bandwidth)
      : kernel_(kernel), source_(source), meter_(bandwidth.rate) {}

  /// `use` stays where it is until it is granted.
  void ask(FlashBusUse& use);

  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;

 private:
  Kernel& kernel_;
  EventSource& source_;
  RateMeter meter_;
  IntrusiveQueue<FlashBusUse> commands_;
  IntrusiveQueue<FlashBusUse> data_;
  Time free_;
  bool looking_ = false;  // it will choose the next use
};

}  // namespace cxloom

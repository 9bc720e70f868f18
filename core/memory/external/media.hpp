// A medium outside of the simulation: accesses are handed out when they are ready, and are done when the
// outside says so.
#pragma once

#include <cstdint>

#include "base/handle_table.hpp"
#include "kernel/event_source.hpp"
#include "memory/external/outside_medium.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"

namespace cxloom {

class ExternalMedia final : public Media {
 public:
  ExternalMedia(OutsideMedium& outside, Kernel& kernel, MediaClient& client);

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  /// The access of that number ends at `at`, now or later; Time{}: now. Throws InputError, with everything as
  /// it was, if none of that number is outside.
  void done(std::uint64_t number, Time at);
  /// Accesses that the outside has, and has not said the end of.
  std::uint64_t handed_out() const { return handed_out_; }

 private:
  enum Wake : std::uint8_t { kReady, kDone };
  enum class State : std::uint8_t { kComing, kOutside, kEnding };

  struct OutsideAccess {
    Message* message = nullptr;
    Address address;
    State state = State::kComing;
  };

  void hand_out(std::uint64_t number);
  void end(std::uint64_t number);

  OutsideMedium& outside_;
  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  HandleTable<OutsideAccess> accesses_;
  std::uint64_t handed_out_ = 0;
};

}  // namespace cxloom

// A medium outside of the simulation: accesses are handed out when they are ready, and are done when the
// outside says so.
#pragma once

#include <cstdint>
#include <vector>

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
  enum class State : std::uint8_t { kFree, kComing, kOutside, kEnding };

  /// An access. Each that takes its place has another number.
  struct Place {
    Message* message = nullptr;
    Address address;
    std::uint32_t life = 0;
    State state = State::kFree;
  };

  static constexpr unsigned kLifeShift = 32;

  void hand_out(std::uint64_t place);
  void end(std::uint64_t place);

  OutsideMedium& outside_;
  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;  // of these
  std::uint64_t handed_out_ = 0;
};

}  // namespace cxloom

// The past of a medium before the run: writes that have left its pages anywhere, for one.
#pragma once

#include <cstdint>

namespace cxloom {

/// It takes no simulated time, but may take long to play, so that it is played in parts. Whatever is left
/// when the medium is first accessed is played then.
class MediaPast {
 public:
  virtual ~MediaPast() = default;

  /// Steps that are left to be played; one takes about as long as some events.
  virtual std::uint64_t left() const = 0;
  /// Plays so many of them at most.
  virtual void play(std::uint64_t steps) = 0;
  /// Forgets the remaining steps: for a user that needs nothing that depends on them.
  virtual void leave_out() = 0;
};

}  // namespace cxloom

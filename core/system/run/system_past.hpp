// What the media of a system have been through before the run (`MediaPast`), all of it together.
#pragma once

#include <cstdint>

namespace cxloom {

class System;

class SystemPast {
 public:
  explicit SystemPast(const System& system) : system_(system) {}

  /// Steps that are left.
  std::uint64_t left() const;
  /// Plays so many of them at most.
  void play(std::uint64_t steps);
  void leave_out();

 private:
  template <class Visit>
  void each(Visit visit) const;

  const System& system_;
};

}  // namespace cxloom

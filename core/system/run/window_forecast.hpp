// For how many windows of a divided run nothing happens that concerns all of its parts at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "device/requester/requester.hpp"
#include "system/run/whole_run.hpp"

namespace cxloom {

class Component;
class System;

/// Requesters are what opens and closes the measured window, and ends a run: by the number of requests that
/// they have issued. A requester has a queue, and each request keeps its place in it while it is processed,
/// and then for the time of a cache hit, or for the way to the next device and back: so many it issues in a
/// window at most.
class WindowForecast {
 public:
  /// Windows are no longer than `window`. The system is built, and its requesters have their work.
  WindowForecast(const WholeRun& whole, const System& system, Time window);

  /// `next` cannot come in the next window.
  bool far(NextOfAll next);
  /// A window has passed since the last call, or a merged one.
  void passed() { ++passed_; }
  /// Something has happened by which requesters may have issued more than that.
  void begin_anew() { granted_ = passed_ = 0; }
  /// Requests that are answered at most in a window that `far` has granted while the measured window is open;
  /// none: nothing bounds them.
  const std::optional<std::uint64_t>& most_answers() const { return most_answers_; }

 private:
  struct Issuer {
    const Requester* requester;
    std::uint64_t queue;
    std::optional<std::uint64_t> most;  ///< requests that it issues in a window; none: nothing bounds them
    std::optional<std::uint64_t> most_past;  ///< if some of them may be stores past the caches
  };

  static constexpr std::uint64_t kMostGranted = 256;  // windows until requesters are asked again

  std::uint64_t windows_until(NextOfAll next);
  std::uint64_t left_of(const Requester& requester, const Requester::Progress& progress,
                        NextOfAll next) const;

  const WholeRun& whole_;
  std::vector<Issuer> issuers_;
  std::optional<std::uint64_t> most_answers_;
  std::uint64_t passed_ = 0;   // windows since requesters were asked
  std::uint64_t granted_ = 0;  // windows
  NextOfAll granted_for_ = NextOfAll::kAllWarm;
};

}  // namespace cxloom

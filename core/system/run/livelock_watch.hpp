// Whether a run gets anywhere: it counts what links deliver while no request is answered. It looks at the
// ends of epochs, at what does not depend on how many events that took.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class Kernel;
class System;
struct RunParams;

/// Epochs are of simulated time, so that the verdict is the same however the events of a run are divided or
/// cut into slices. Epochs in which nothing happens are passed over. A run is given up
/// - at the end of an epoch, if somebody waits for an answer, none has come for whole epochs in a row, and in
/// these, the first aside,
///   links have delivered `run.livelock_deliveries` messages,
/// - if in `kMostSilent` of these in a row something has happened, but nothing was delivered,
/// - within an instant,
///   if `kMostAtOnce` events of it have brought nobody on. Work that goes round for ever brings nobody on
///   once a whole round of it took no time.
class LivelockWatch {
 public:
  static constexpr Time kEpoch{10'000'000};
  static constexpr std::uint32_t kMostSilent = 10'000;
  /// Events at an instant.
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 26U;

  /// Both outlive it.
  LivelockWatch(const System& system, const RunParams& run);

  /// A request was answered, or one of its lines. Until all are warm the others may go on for ever: it is
  /// warm-up requests that bring the window nearer.
  void answered(const Request& request) {
    if (counts(request)) heard(1);
  }
  /// Whether an answer to this request counts. Parts of a divided run may ask at the same time.
  bool counts(const Request& request) const { return !warming_up_ || warms_up(request); }
  /// So many that count.
  void heard(std::uint64_t answers) { answers_ += answers; }
  /// The work has been assigned: to be called before the run.
  void know_warmups();

  /// The end of the epoch, at which it looks next.
  Time next_look() const { return next_look_; }
  /// All that lies before `next_look` has happened, and what happens next does at `next`. Returns why the run
  /// is to be given up; empty if it is not.
  std::string look(Time next);
  /// What to call that, once `look` has given it up. `play` goes on with the run up to the next look, and
  /// returns when something happens next, Time::max() if nothing does any more.
  std::string verdict(const std::string& why, const std::function<Time()>& play);

  /// A kernel has run `events`. Returns why the run is to be given up, as `look` does. Work with an end comes
  /// to it, however much of it one instant has. Without an end it may go on for ever while no time passes.
  std::string look_at_instant(const Kernel& kernel, std::uint64_t events);

 private:
  bool warms_up(const Request& request) const;
  std::uint64_t answers() const;
  bool somebody_waits() const;
  std::uint64_t deliveries() const;
  std::string no_answer() const;
  std::string no_time_passes();

  /// What a requester had done when it was asked last at an instant.
  struct SeenRequester {
    std::uint64_t issued = 0;
    std::uint64_t outstanding = 0;
    std::optional<std::uint64_t>
        round_begins;  // `issued` when it was known first that it goes round for ever
  };

  const System& system_;
  const RunParams& run_;
  bool warming_up_;  // as it was at the last look
  // Requests of each requester's warm-up, by its node: run.warmup, up to the end of a whole access.
  std::vector<std::uint64_t> warmups_;
  Time next_look_ = kEpoch;
  std::uint64_t answers_ = 0;         // that it was told of
  std::uint64_t answers_before_ = 0;  // the last look
  bool counting_ = false;             // no answer has come for an epoch
  std::uint64_t first_ = 0;           // deliveries when counting began
  std::uint64_t last_ = 0;            // at the last look
  std::uint32_t silent_ = 0;          // epochs in a row
  // Within an instant.
  const Kernel* kernel_ = nullptr;  // that was looked at last
  Time instant_;                    // in which it was
  std::uint64_t at_instant_ = 0;    // events since it was asked who gets on, at least
  std::uint64_t answers_before_instant_ = 0;
  std::vector<SeenRequester> seen_;  // by node; empty: nobody was asked at this instant
};

}  // namespace cxloom

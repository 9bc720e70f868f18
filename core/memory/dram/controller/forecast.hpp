// Clocks before which no waiting burst is done, unless something new arrives. Until then nobody needs to
// catch up with the sub-channel. A forecast may be early, but never late.
#pragma once

#include "memory/dram/controller/candidates.hpp"
#include "memory/dram/device/config.hpp"
#include "memory/dram/queue/arrivals.hpp"
#include "memory/dram/queue/direction.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/queue/unused_rows.hpp"
#include "memory/dram/queue/write_places.hpp"
#include "memory/dram/refresh/refresher.hpp"
#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

/// The sources of a sub-channel's forecast.
struct DramForecastContext {
  const DramConfig& config;
  const DramQueue& queue;
  const DramArrivals& arrivals;
  const DramWritePlaces& write_places;
  const DramCandidates& candidates;
  const DramUnusedRows& unused;
  const DramRefresher& refresher;
  const DramDirection& direction;
  const DramScheduler& scheduler;
};

class DramForecast {
 public:
  explicit DramForecast(const DramForecastContext& context)
      : the_(context),
        within_banks_(context.scheduler.within_banks()),
        holds_back_(context.scheduler.holds_back()),
        several_at_once_(context.config.device.organisation.pseudo_channels - 1),
        hit_(context.config.device.timing.CL + context.config.device.organisation.data_clocks()),
        write_(context.config.device.timing.CWL + context.config.device.organisation.data_clocks()) {}

  /// The first clock at which a burst may be done. `under_way`: when the first burst
  /// with a read or write command out will be done, kNeverClock if none is out.
  Clock done(Clock now, Clock under_way) const {
    const bool none_waits =
        the_.arrivals.empty(false) && the_.arrivals.empty(true) && the_.queue.count(false) == 0;
    return none_waits && the_.config.posted_writes ? under_way : done_waiting(now, under_way);
  }
  /// The first clock at which a read may be done that is alone: nothing else is queued.
  Clock alone(const DramBurst& burst, Clock now) const {
    const DramStep step = the_.candidates.step_of(burst);
    return the_.candidates.ready_at(step, burst, now) + rest(step) + hit_;
  }

 private:
  Clock done_waiting(Clock now, Clock under_way) const;
  Clock reads_waiting(Clock now, Clock under_way) const;
  Clock read_command(Clock now) const;
  /// Nothing is sent before this clock.
  Clock next_command(Clock now) const;
  /// From a command of a burst to the read command.
  Clock rest(DramStep step) const {
    const DramTiming& timing = the_.config.device.timing;
    return step == DramStep::kColumn     ? 0
           : step == DramStep::kActivate ? timing.tRCD
                                         : timing.tRP + timing.tRCD;
  }
  Clock write_done(Clock now) const;

  const DramForecastContext the_;
  const bool within_banks_;         ///< the scheduler chooses
  const bool holds_back_;           ///< it may pick nothing
  const unsigned several_at_once_;  ///< 1: two pseudo channels write at the same time
  const Clock hit_;                 ///< from a read, or a write, to the end of its data
  const Clock write_;
};

}  // namespace cxloom

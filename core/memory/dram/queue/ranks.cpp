#include "memory/dram/queue/ranks.hpp"

namespace cxloom {

DramRanks::DramRanks(const DramConfig& config, DramTimers& timers, const DramCommandBus& bus,
                     DramCounters& counters)
    : power_down_(config.power_down),
      shortest_power_down_(config.device.timing.tPD),
      timers_(timers),
      bus_(bus),
      counters_(counters),
      ranks_(config.device.organisation.ranks) {}

void DramRanks::leave_power_down(std::uint32_t rank, Clock now) {
  const Clock idle_from = ranks_[rank].idle_from;
  if (idle_from == kNeverClock) return;
  const Clock entry = idle_from + *power_down_;
  if (entry >= now) return;
  const Clock exit = std::max(now, entry + shortest_power_down_);
  account_sleep(counters_, rank, exit);
  timers_.power_up(rank, exit);
  bus_.send_beside(DramCommand::kPowerDown, rank, entry);
  bus_.send_beside(DramCommand::kPowerUp, rank, exit);
}

void DramRanks::account_sleep(DramCounters& counters, std::uint32_t rank, Clock until) const {
  if (!power_down_ || ranks_[rank].idle_from == kNeverClock) return;
  const Clock asleep = until - ranks_[rank].idle_from - *power_down_;
  if (asleep <= 0) return;
  const std::uint32_t open = timers_.open_banks(rank);
  (open != 0 ? counters.asleep_open : counters.asleep_closed) += asleep;
  counters.open -= open * asleep;
}

}  // namespace cxloom

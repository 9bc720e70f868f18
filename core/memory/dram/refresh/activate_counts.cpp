#include "memory/dram/refresh/activate_counts.hpp"

#include <algorithm>

namespace cxloom {

namespace {

// In tREFI refreshes take RAAIMT off each bank: all at once, or in parts if it is refreshed more often (half
// in each of the two same-bank refreshes of DDR5).
std::uint32_t taken_by_refresh(const DramConfig& config, DramRefreshScope scope) {
  const DramTiming& t = config.device.timing;
  const Clock raaimt = config.management.raaimt;
  if (scope == DramRefreshScope::kRank || t.tREFI == 0) return config.management.raaimt;
  const Clock round = t.tREFI_SB * config.device.refresh_sets(scope);
  return static_cast<std::uint32_t>((raaimt * round + t.tREFI / 2) / t.tREFI);
}

}  // namespace

DramActivateCounts::DramActivateCounts(const DramConfig& config, DramRefreshScope scope)
    : raaimt_(config.management.raaimt),
      raammt_(config.management.raammt),
      refresh_takes_(taken_by_refresh(config, scope)),
      alert_at_(config.management.alert_at),
      between_alerts_(config.management.alert_commands),
      banks_in_rank_(config.device.organisation.banks_in_rank()),
      activates_(std::size_t{config.device.organisation.ranks} * banks_in_rank_),
      rows_(alert_at_ != 0 ? activates_.size() : 0),
      worst_(rows_.size()),
      since_alert_(config.device.organisation.ranks, between_alerts_) {}

DramActivateCounts::Need DramActivateCounts::opened(std::uint32_t bank, std::uint32_t row) {
  Need need;
  if (raaimt_ != 0) need.management = ++activates_[bank] >= raammt_;
  if (alert_at_ == 0) return need;
  const std::uint32_t since = ++since_alert_[bank / banks_in_rank_];
  const std::uint32_t count = ++rows_[bank][row];
  if (count > worst_[bank].count) worst_[bank] = {row, count};
  need.alert = count >= alert_at_ && since > between_alerts_;
  return need;
}

void DramActivateCounts::take_off(std::uint32_t bank, std::uint64_t activates) {
  activates_[bank] -= static_cast<std::uint32_t>(std::min<std::uint64_t>(activates_[bank], activates));
}

void DramActivateCounts::refreshed(const std::vector<std::uint32_t>& banks, std::uint64_t times) {
  for (const std::uint32_t bank : banks) take_off(bank, times * refresh_takes_);
}

void DramActivateCounts::managed(const std::vector<std::uint32_t>& banks) {
  for (const std::uint32_t bank : banks) {
    take_off(bank, raaimt_);
    if (alert_at_ == 0) continue;
    rows_[bank].erase(worst_[bank].row);
    worst_[bank] = {};
    since_alert_[bank / banks_in_rank_] = 0;
  }
}

}  // namespace cxloom

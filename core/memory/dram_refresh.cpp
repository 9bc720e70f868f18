#include "memory/dram_refresh.hpp"

namespace cxloom {

DramRefresh::DramRefresh(const DramConfig& config, std::uint32_t rank)
    : interval_(config.refresh_interval()),
      // Ranks take turns, so that they are not all busy at once.
      due_(config.refresh == RefreshMode::kOff
               ? kNeverClock
               : interval_ + interval_ * rank / config.device.organisation.ranks),
      all_banks_(config.refresh != RefreshMode::kSameBank),
      postpone_(config.refresh_postpone) {
  const DramOrganisation& organisation = config.device.organisation;
  const std::uint32_t banks = organisation.banks_in_rank();
  std::uint32_t sets = 1;
  if (!all_banks_)
    sets = config.device.refresh_set == RefreshSet::kBankOfEveryGroup ? organisation.banks : banks;
  sets_.resize(sets);
  // Banks are numbered group by group, so that a bank of every group is each sets-th.
  for (std::uint32_t i = 0; i < banks; ++i) sets_[i % sets].push_back(rank * banks + i);
}

}  // namespace cxloom

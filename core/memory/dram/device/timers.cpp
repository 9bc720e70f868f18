#include "memory/dram/device/timers.hpp"

namespace cxloom {

namespace {

Clock or_else(Clock own, Clock usual) { return own != 0 ? own : usual; }

// The longest that a read or write, or the activate before it, keeps another command waiting, counted from
// the read or write; after an automatic precharge tRP comes on top.
Clock rest_after_column(const DramTiming& t, Clock burst) {
  const Clock data = std::max(t.CL, t.CWL) + burst;
  return std::max({data + std::max({t.tWR, t.tWTR_S, t.tWTR_L, t.tWTR_M, t.tCS}), t.tRTP, t.tRTW, t.tCCD_S,
                   t.tCCD_L, t.tCCD_L_WR, t.tCCD_L_WR2, t.tCCD_M, t.tCCD_M_WR, t.tCCD_M_WR2, t.tCCD_DLR,
                   t.tCCD_R, t.tRAS, t.tRRD_S, t.tRRD_L, t.tRRD_DLR, t.tFAW, t.tFAW_DLR, t.tPPD});
}

}  // namespace

DramTimers::DramTimers(const DramOrganisation& organisation, const DramTiming& timing)
    : timing_(timing),
      group_read_(or_else(timing.tCCD_M, timing.tCCD_L)),
      group_write_(or_else(timing.tCCD_M_WR2, timing.tCCD_L_WR2)),
      group_rmw_(or_else(timing.tCCD_M_WR, timing.tCCD_L_WR)),
      group_write_to_read_(or_else(timing.tWTR_M, timing.tWTR_L)),
      other_die_read_(or_else(timing.tCCD_R, timing.tCCD_DLR)),
      banks_wait_longer_((timing.tCCD_M | timing.tCCD_M_WR2 | timing.tCCD_M_WR | timing.tWTR_M) != 0),
      multiplexed_(organisation.pseudo_channels > 1),
      burst_(organisation.data_clocks()),
      column_to_precharge_{timing.tRTP, timing.CWL + burst_ + timing.tWR},
      rest_after_column_(rest_after_column(timing, burst_)),
      banks_in_rank_(organisation.banks_in_rank()),
      banks_(std::size_t{organisation.ranks} * organisation.banks_in_rank()),
      groups_(std::size_t{organisation.ranks} * organisation.bank_groups),
      ranks_(organisation.ranks) {
  for (std::uint32_t i = 0; i < banks_.size(); ++i) {
    banks_[i].group = i / organisation.banks;
    banks_[i].rank = i / banks_in_rank_;
  }
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].activates.at.fill(-timing.tFAW);
    ranks_[i].stack = i / organisation.stack;
    ranks_[i].pseudo_channel = i % organisation.pseudo_channels;
  }
  if (organisation.stack == 1) return;
  stacks_.resize(organisation.ranks / organisation.stack);
  for (FourActivates& stack : stacks_) stack.at.fill(-timing.tFAW_DLR);
}

// The loops over the banks of a rank have no branches, as nobody can foretell which of them are open.

Clock DramTimers::precharge_all_at(std::uint32_t rank) const {
  Clock at = rank_precharge_at(rank);
  for (const Bank& bank : banks_of(rank)) {
    at = std::max(at, static_cast<Clock>(bank.row != kClosed) * bank.precharge);
  }
  return at;
}

Clock DramTimers::refresh_all_at(std::uint32_t rank) const {
  Clock at = std::max(ranks_[rank].refresh, ranks_[rank].awake);
  for (const Bank& bank : banks_of(rank)) at = std::max(at, bank.activate);
  return at;
}

Clock DramTimers::refresh_at(std::uint32_t rank, const std::vector<std::uint32_t>& banks) const {
  Clock at = std::max(ranks_[rank].refresh, ranks_[rank].awake);
  for (const std::uint32_t bank : banks) at = std::max(at, banks_[bank].activate);
  return at;
}

void DramTimers::precharge_all(std::uint32_t rank, Clock now) {
  for (Bank& bank : banks_of(rank)) {
    push(bank.activate, static_cast<Clock>(bank.row != kClosed) * (now + timing_.tRP));
    bank.row = kClosed;
  }
  ranks_[rank].open = 0;
  push(ranks_[rank].precharge, now + timing_.tPPD);
}

[[gnu::hot]] void DramTimers::activate(std::uint32_t index, std::int64_t row, Clock now) {
  Bank& bank = banks_[index];
  Rank& rank = ranks_[bank.rank];
  bank.row = row;
  bank.precharge = now + timing_.tRAS;
  push(bank.column[0], now + timing_.tRCD);
  push(bank.column[1], now + timing_.tRCD_WR);
  push(bank.column[2], now + timing_.tRCD_WR);
  push(groups_[bank.group].activate, now + timing_.tRRD_L);
  push(rank.activate, std::max(now + timing_.tRRD_S, rank.activates.add(now) + timing_.tFAW));
  push(rank.refresh, now + timing_.tRRD_L);
  ++rank.open;
  if (!stacks_.empty()) [[unlikely]]
    activate_in_stack(rank, now);
}

void DramTimers::activate_in_stack(const Rank& own, Clock now) {
  const Clock fourth = stacks_[own.stack].add(now) + timing_.tFAW_DLR;
  for (Rank& rank : ranks_) {
    if (rank.stack == own.stack)
      push(rank.activate, &rank == &own ? fourth : std::max(now + timing_.tRRD_DLR, fourth));
  }
}

void DramTimers::refresh_in_stack(const Rank& own, Clock until) {
  for (Rank& rank : ranks_) {
    if (rank.stack == own.stack && &rank != &own) push(rank.refresh, until);
  }
}

[[gnu::hot]] void DramTimers::precharge(std::uint32_t index, Clock now) {
  Bank& bank = banks_[index];
  close(bank, now + timing_.tRP);
  push(ranks_[bank.rank].precharge, now + timing_.tPPD);
}

inline void DramTimers::column_of_others(const Rank& own, bool write, Clock now, Clock end) {
  for (Rank& rank : ranks_) {  // the data bus is one, and needs a pause between ranks
    if (&rank == &own) continue;
    if (rank.stack == own.stack) {  // unless they are dies behind the same pins
      push(rank.column[write], now + (write ? timing_.tCCD_DLR : other_die_read_));
      push(rank.column[!write], write ? end + timing_.tWTR_S : now + timing_.tRTW);
      continue;
    }
    push(rank.column[0], end + timing_.tCS - timing_.CL);
    push(rank.column[1], end + timing_.tCS - timing_.CWL);
  }
}

// The data of both go over the module's bus in turns, bit by bit: together, but all in one direction.
void DramTimers::column_of_pseudo_channels(const Rank& own, bool write, Clock end) {
  for (Rank& rank : ranks_) {
    if (&rank == &own) continue;
    const bool beside = rank.pseudo_channel != own.pseudo_channel;
    if (!beside || write) push(rank.column[0], end + timing_.tCS - timing_.CL);
    if (!beside || !write) push(rank.column[1], end + timing_.tCS - timing_.CWL);
  }
}

[[gnu::hot]] void DramTimers::column(std::uint32_t index, bool write, bool auto_precharge, Clock now) {
  Bank& bank = banks_[index];
  Group& group = groups_[bank.group];
  const Clock end = now + (write ? timing_.CWL : timing_.CL) + burst_;  // of its data
  Rank& own = ranks_[bank.rank];
  push(rest_from_, now + rest_after_column_);
  push(own.column[write], now + timing_.tCCD_S);
  push(own.column[!write], write ? end + timing_.tWTR_S : now + timing_.tRTW);
  if (multiplexed_) [[unlikely]] {
    column_of_pseudo_channels(own, write, end);
  } else {
    column_of_others(own, write, now, end);
  }
  if (write) {
    push(group.column[1], now + group_write_);
    push(group.column[2], now + group_rmw_);
    push(group.column[0], end + group_write_to_read_);
    push(bank.precharge, end + timing_.tWR);
  } else {
    push(group.column[0], now + group_read_);
    push(bank.precharge, now + timing_.tRTP);
  }
  if (banks_wait_longer_) [[unlikely]]
    column_in_bank(bank, write, now, end);
  if (!auto_precharge) return;
  close(bank, bank.precharge + timing_.tRP);
  push(rest_from_, bank.activate);
}

void DramTimers::column_in_bank(Bank& bank, bool write, Clock now, Clock end) const {
  if (!write) return push(bank.column[0], now + timing_.tCCD_L);
  push(bank.column[0], end + timing_.tWTR_L);
  push(bank.column[1], now + timing_.tCCD_L_WR2);
  push(bank.column[2], now + timing_.tCCD_L_WR);
}

void DramTimers::refresh_all(std::uint32_t rank, Clock now, Clock duration) {
  for (Bank& bank : banks_of(rank)) push(bank.activate, now + duration);
  push(rest_from_, now + std::max(duration, timing_.tRFC_DLR));
  refresh_in_stack(ranks_[rank], now + timing_.tRFC_DLR);
}

void DramTimers::refresh_same(std::uint32_t rank, const std::vector<std::uint32_t>& banks, Clock now) {
  for (const std::uint32_t bank : banks) push(banks_[bank].activate, now + timing_.tRFC_SB);
  push(ranks_[rank].activate, now + timing_.tREFSB_ACT);
  push(ranks_[rank].refresh, now + timing_.tRFC_SB);
  refresh_in_stack(ranks_[rank], now + timing_.tRFC_SB_DLR);
  push(rest_from_, now + std::max({timing_.tRFC_SB, timing_.tREFSB_ACT, timing_.tRFC_SB_DLR}));
}

}  // namespace cxloom

// Checks a trace of DRAM commands against the constraints of the standard, from the table of timings alone:
// it shares nothing with the controller. For every pair of commands that the standard separates there is one
// rule: not sooner than so many clocks after the last such command to the same bank, bank group or rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/dram/controller/params.hpp"
#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/command.hpp"

namespace cxloom::test {

/// Checks one sub-channel.
class DramChecker {
 public:
  DramChecker(const DramDevice& device, std::optional<DramRefreshScope> refresh, std::uint32_t postpone = 0)
      : o_(device.organisation),
        t_(device.timing),
        device_(device),
        refresh_(refresh),
        postpone_(postpone),
        ranks_(o_.ranks) {
    for (Rank& rank : ranks_) {
      rank.banks.resize(o_.bank_groups * o_.banks);
      rank.groups.resize(o_.bank_groups);
    }
  }

  void command(const DramCommandRecord& r) {
    ++count_;
    Rank& rank = ranks_[r.rank];
    if (rank.asleep) need(r, r.command == DramCommand::kPowerUp, "a command to a rank in power-down");
    if (r.command == DramCommand::kPowerDown || r.command == DramCommand::kPowerUp) {
      power(r, rank);
      return;
    }
    apart(r, rank.last_power_up, t_.tXP, "tXP");
    command_bus(r);
    need(r, r.clock >= rank.last_command, "commands of a rank out of order");
    rank.last_command = r.clock;
    switch (r.command) {
      case DramCommand::kActivate: activate(r, rank); break;
      case DramCommand::kPrecharge:
        precharge(r, rank, rank.banks[r.bank]);
        precharges(r, rank);
        break;
      case DramCommand::kPrechargeAll:
        for (Bank& bank : rank.banks) {
          if (bank.open) precharge(r, rank, bank);
        }
        precharges(r, rank);
        break;
      case DramCommand::kRefreshAll:
      case DramCommand::kRefreshSame: refresh(r, rank); break;
      case DramCommand::kManageAll:
      case DramCommand::kManageSame: manage(r, rank); break;
      default: column(r, rank);
    }
  }

  std::uint64_t count() const { return count_; }
  /// What was violated, and how often: empty if nothing was.
  const std::map<std::string, std::uint64_t>& violations() const { return violations_; }
  std::string report() const {
    std::string text;
    for (const auto& [rule, times] : violations_) {
      text += rule + ": " + std::to_string(times) + " times, first at clock " +
              std::to_string(first_.at(rule)) + "\n";
    }
    return text;
  }

 private:
  static constexpr Clock kLongAgo = -(Clock{1} << 40U);
  struct Bank {
    bool open = false;
    std::uint32_t row = 0;
    Clock activate = kLongAgo, precharge = kLongAgo, read = kLongAgo, write = kLongAgo,
          refreshed = kLongAgo;  ///< it is ready again
  };
  struct Data {
    Clock end = kLongAgo;
    std::uint32_t rank = 0;
    bool write = false;
  };
  struct Group {
    Clock activate = kLongAgo, read = kLongAgo, write = kLongAgo;
  };
  struct Rank {
    std::vector<Bank> banks;
    std::vector<Group> groups;
    std::vector<Clock> activates;
    Clock activate = kLongAgo, precharge = kLongAgo, read = kLongAgo, write = kLongAgo, refresh = kLongAgo;
    Clock last_command = kLongAgo, last_power_up = kLongAgo, last_power_down = kLongAgo;
    Clock last_refresh = 0;
    Clock managements = 0;  ///< since then
    bool asleep = false;
  };

  void need(const DramCommandRecord& r, bool holds, const char* rule) {
    if (holds) return;
    ++violations_[rule];
    first_.emplace(rule, r.clock);
  }
  void apart(const DramCommandRecord& r, Clock before, Clock distance, const char* rule) {
    need(r, r.clock - before >= distance, rule);
  }
  // A time with L holds in the whole group, or in a bank if there is one with M for the others of the group.
  void apart_in_group(const DramCommandRecord& r, Clock bank, Clock group, Clock l, Clock m,
                      const char* rule) {
    apart(r, m != 0 ? bank : group, l, rule);
    if (m != 0) apart(r, group, m, rule);
  }
  Clock write_end(Clock write) const { return write + t_.CWL + o_.burst_clocks; }

  void command_bus(const DramCommandRecord& r) {
    const bool to_column = r.command == DramCommand::kRead || r.command == DramCommand::kReadPrecharge ||
                           r.command == DramCommand::kWrite || r.command == DramCommand::kWritePrecharge;
    const bool activate = r.command == DramCommand::kActivate;
    const TwoCycleCommands two_cycle = device_.two_cycle_commands;
    const bool two = (two_cycle == TwoCycleCommands::kAll && (to_column || activate)) ||
                     (two_cycle == TwoCycleCommands::kActivate && activate);
    Clock& free = bus_free_[to_column && device_.split_command_bus];
    need(r, r.clock >= free, "two commands on the command bus");
    const bool every = two_cycle == TwoCycleCommands::kEvery;
    const Clock half = every ? 2 : 1;
    if (every || two_cycle == TwoCycleCommands::kSplitActivate) {  // the first pause is that of ACT-2
      if (r.clock >= free + half) second_half_due_ = false;
      need(r, !second_half_due_ || r.clock + half - activated_ <= 8, "no clock for ACT-2 within tAAD");
      need(r, !activate || !second_half_due_, "ACT-1 before the ACT-2 of another");
      if (activate) {
        second_half_due_ = true;
        activated_ = r.clock;
      }
    }
    free = r.clock + (two ? 2 : half);
  }

  void activate(const DramCommandRecord& r, Rank& rank) {
    Bank& bank = rank.banks[r.bank];
    Group& group = rank.groups[r.bank / o_.banks];
    need(r, !bank.open, "ACT to an open bank");
    apart(r, bank.precharge, t_.tRP, "tRP");
    apart(r, bank.activate, t_.tRAS + t_.tRP, "tRC");
    need(r, r.clock >= bank.refreshed, "tRFC");
    apart(r, group.activate, t_.tRRD_L, "tRRD_L");
    apart(r, rank.activate, t_.tRRD_S, "tRRD_S");
    if (refresh_ == DramRefreshScope::kSet) apart(r, rank.refresh, t_.tREFSB_ACT, "tREFSB_ACT");
    if (rank.activates.size() >= 4) apart(r, rank.activates[rank.activates.size() - 4], t_.tFAW, "tFAW");
    rank.activates.push_back(r.clock);
    stack_activates(r);
    if (rank.activates.size() > 64) rank.activates.erase(rank.activates.begin(), rank.activates.end() - 4);
    bank.open = true;
    bank.row = r.row;
    bank.activate = group.activate = rank.activate = r.clock;
  }

  // The dies of a stack: other ranks of the same one.
  template <class Look>
  void other_dies(const DramCommandRecord& r, Look look) {
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      if (i != r.rank && i / o_.stack == r.rank / o_.stack) look(ranks_[i]);
    }
  }
  void stack_activates(const DramCommandRecord& r) {
    if (o_.stack == 1) return;
    other_dies(r, [&](const Rank& die) { apart(r, die.activate, t_.tRRD_DLR, "tRRD_DLR"); });
    std::vector<Clock>& all = stack_activates_[r.rank / o_.stack];
    if (all.size() >= 4) apart(r, all[all.size() - 4], t_.tFAW_DLR, "tFAW_DLR");
    all.push_back(r.clock);
  }

  void precharge(const DramCommandRecord& r, Rank&, Bank& bank) {
    need(r, bank.open, "PRE to a closed bank");
    apart(r, bank.activate, t_.tRAS, "tRAS");
    apart(r, bank.read, t_.tRTP, "tRTP");
    apart(r, write_end(bank.write), t_.tWR, "tWR");
    bank.open = false;
    bank.precharge = r.clock;
  }
  void precharges(const DramCommandRecord& r, Rank& rank) {
    apart(r, rank.precharge, t_.tPPD, "tPPD");
    rank.precharge = r.clock;
  }

  void column(const DramCommandRecord& r, Rank& rank) {
    const bool write = r.command == DramCommand::kWrite || r.command == DramCommand::kWritePrecharge;
    const bool closes = r.command == DramCommand::kReadPrecharge || r.command == DramCommand::kWritePrecharge;
    Bank& bank = rank.banks[r.bank];
    Group& group = rank.groups[r.bank / o_.banks];
    need(r, bank.open && bank.row == r.row, "RD or WR to a row that is not open");
    if (write) {
      apart(r, bank.activate, t_.tRCD_WR, "tRCD_WR");
      apart_in_group(r, bank.write, group.write, r.rmw ? t_.tCCD_L_WR : t_.tCCD_L_WR2,
                     r.rmw ? t_.tCCD_M_WR : t_.tCCD_M_WR2, "tCCD_L_WR");
      apart(r, rank.write, t_.tCCD_S, "tCCD_S");
      apart(r, rank.read, t_.tRTW, "tRTW");
      bank.write = group.write = rank.write = r.clock;
    } else {
      apart(r, bank.activate, t_.tRCD, "tRCD");
      apart_in_group(r, bank.read, group.read, t_.tCCD_L, t_.tCCD_M, "tCCD_L");
      apart(r, rank.read, t_.tCCD_S, "tCCD_S");
      apart_in_group(r, write_end(bank.write), write_end(group.write), t_.tWTR_L, t_.tWTR_M, "tWTR_L");
      apart(r, write_end(rank.write), t_.tWTR_S, "tWTR_S");
      bank.read = group.read = rank.read = r.clock;
    }
    other_dies(r, [&](const Rank& die) {
      apart(r, write ? die.write : die.read, !write && t_.tCCD_R != 0 ? t_.tCCD_R : t_.tCCD_DLR, "tCCD_DLR");
      if (write) apart(r, die.read, t_.tRTW, "tRTW of another die");
      if (!write) apart(r, write_end(die.write), t_.tWTR_S, "tWTR_S of another die");
    });
    data_bus(r, write);
    if (closes) {
      const Clock at =
          std::max({bank.activate + t_.tRAS, bank.read + t_.tRTP, write_end(bank.write) + t_.tWR});
      bank.open = false;
      bank.precharge = at;
    }
  }

  // Each pseudo channel has data pins of its own, but both move data in one direction.
  void data_bus(const DramCommandRecord& r, bool write) {
    const Clock data = r.clock + (write ? t_.CWL : t_.CL);
    const std::uint32_t own = r.rank % o_.pseudo_channels;
    for (std::uint32_t i = 0; i < o_.pseudo_channels; ++i) {
      const Data& last = data_[i];
      if (i != own && last.write == write) continue;
      const bool same = i == own && last.rank / o_.stack == r.rank / o_.stack;
      need(r, data >= last.end + (same ? 0 : t_.tCS), "two bursts on the data bus");
    }
    data_[own] = {data + o_.burst_clocks, r.rank, write};
  }

  void refresh(const DramCommandRecord& r, Rank& rank) {
    const bool all = r.command == DramCommand::kRefreshAll;
    need(r, refresh_ == (all ? DramRefreshScope::kRank : DramRefreshScope::kSet),
         "the wrong kind of refresh");
    const std::uint32_t sets = device_.refresh_set == RefreshSet::kBankOfEveryGroup ? o_.banks
                               : device_.refresh_set == RefreshSet::kTwoBanks ? o_.bank_groups * o_.banks / 2
                                                                              : o_.bank_groups * o_.banks;
    for (std::uint32_t i = 0; i < rank.banks.size(); ++i) {
      if (!all && i % sets != r.bank) continue;
      Bank& bank = rank.banks[i];
      need(r, !bank.open, "REF with an open bank");
      apart(r, bank.precharge, t_.tRP, "tRP before REF");
      need(r, r.clock >= bank.refreshed, "REF to REF");
      bank.refreshed = r.clock + (all ? t_.tRFC : t_.tRFC_SB);
    }
    if (!all) {
      apart(r, rank.refresh, t_.tRFC_SB, "REF to REF");
      apart(r, rank.activate, t_.tRRD_L, "ACT to REF of other banks");
    }
    other_dies(r, [&](const Rank& die) {
      apart(r, die.refresh, all ? t_.tRFC_DLR : t_.tRFC_SB_DLR, "REF to REF of another die");
    });
    const Clock interval = all ? t_.tREFI : t_.tREFI_SB;
    // Put off by no more than is allowed, and the time to close the banks.
    Clock closing = 2 * (t_.tRAS + t_.tRP + t_.tRFC + t_.CWL + t_.tWR + t_.tXP);
    closing += rank.managements * closing;  // management goes first
    need(r, r.clock - rank.last_refresh <= (postpone_ + 2) * interval + closing, "a refresh too late");
    rank.refresh = rank.last_refresh = r.clock;
    rank.managements = 0;
  }

  void manage(const DramCommandRecord& r, Rank& rank) {
    const bool all = r.command == DramCommand::kManageAll;
    const auto sets = device_.refresh_sets(DramRefreshScope::kSet);
    // A rank is busy as long as for a refresh, or after an alert for 350 ns.
    const Clock whole = std::min(t_.tRFC, DramClock(device_.clock).edge_at(Time{350'000}));
    for (std::uint32_t i = 0; i < rank.banks.size(); ++i) {
      if (!all && i % sets != r.bank) continue;
      Bank& bank = rank.banks[i];
      need(r, !bank.open, "RFM with an open bank");
      apart(r, bank.precharge, t_.tRP, "tRP before RFM");
      need(r, r.clock >= bank.refreshed, "REF to RFM");
      bank.refreshed = r.clock + (all ? whole : t_.tRFC_SB);
    }
    if (!all) rank.refresh = r.clock;
    ++rank.managements;
  }

  void power(const DramCommandRecord& r, Rank& rank) {
    if (r.command == DramCommand::kPowerDown) {
      need(r, !rank.asleep, "PDE twice");
      need(r, r.clock >= rank.last_command, "PDE before the last command");
      apart(r, rank.read, t_.CL + o_.burst_clocks, "PDE during a read");
      apart(r, write_end(rank.write), t_.tWR, "PDE during a write");
      rank.last_power_down = r.clock;
    } else {
      need(r, rank.asleep, "PDX without PDE");
      apart(r, rank.last_power_down, t_.tPD, "tPD");
      rank.last_power_up = r.clock;
    }
    rank.asleep = r.command == DramCommand::kPowerDown;
  }

  DramOrganisation o_;
  DramTiming t_;
  DramDevice device_;
  std::optional<DramRefreshScope> refresh_;
  Clock postpone_;
  std::vector<Rank> ranks_;
  std::map<std::uint32_t, std::vector<Clock>> stack_activates_;
  std::array<Clock, 2> bus_free_{};
  bool second_half_due_ = false;  ///< of LPDDR5's last activate
  Clock activated_ = kLongAgo;    ///< its ACT-1
  std::array<Data, 2> data_;      ///< by pseudo channel
  std::uint64_t count_ = 0;
  std::map<std::string, std::uint64_t> violations_;
  std::map<std::string, Clock> first_;
};

/// A checker for every sub-channel.
class DramCheckers final : public DramCommandLog {
 public:
  explicit DramCheckers(const DramConfig& config)
      : checkers_(config.sub_channels,
                  DramChecker(config.device, config.refresh_scope, config.refresh_postpone)) {}
  /// Checkers with timings of the test's own choice.
  DramCheckers(const DramConfig& config, const DramTiming& timing) {
    DramDevice device = config.device;
    device.timing = timing;
    checkers_.assign(config.sub_channels, DramChecker(device, config.refresh_scope, config.refresh_postpone));
  }
  void command(std::uint32_t sub_channel, const DramCommandRecord& record) override {
    checkers_[sub_channel].command(record);
  }
  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const DramChecker& checker : checkers_) sum += checker.count();
    return sum;
  }
  std::string report() const {
    std::string text;
    for (const DramChecker& checker : checkers_) text += checker.report();
    return text;
  }

 private:
  std::vector<DramChecker> checkers_;
};

}  // namespace cxloom::test

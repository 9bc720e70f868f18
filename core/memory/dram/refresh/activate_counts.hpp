// The activates of each bank and of each row, as far as they make refresh management necessary.
//
// A bank has a rolling count of its activates (RAA): a refresh takes some off, and refresh management too.
// With per-row counts (PRAC) the device alerts when a row has had too many; management then refreshes the
// neighbours of the row of each bank that has had the most, and its count begins anew.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/dram/device/config.hpp"

namespace cxloom {

class DramActivateCounts {
 public:
  /// `scope`: what a refresh takes.
  DramActivateCounts(const DramConfig& config, DramRefreshScope scope);

  /// What becomes necessary by an activate: management of the bank before its next one, or the alert of a
  /// row.
  struct Need {
    bool management = false;
    bool alert = false;
  };
  Need opened(std::uint32_t bank, std::uint32_t row);
  /// A bank has had as many as it may without management.
  bool over(std::uint32_t bank) const { return raaimt_ != 0 && activates_[bank] >= raammt_; }
  void refreshed(const std::vector<std::uint32_t>& banks, std::uint64_t times);
  void managed(const std::vector<std::uint32_t>& banks);

 private:
  /// The row of a bank that has been opened most often since it was last taken care of.
  struct Worst {
    std::uint32_t row = 0;
    std::uint32_t count = 0;
  };

  void take_off(std::uint32_t bank, std::uint64_t activates);

  const std::uint32_t raaimt_;
  const std::uint32_t raammt_;
  const std::uint32_t refresh_takes_;  ///< off the count of a bank
  const std::uint32_t alert_at_;
  const std::uint32_t between_alerts_;  ///< activates of a rank
  const std::uint32_t banks_in_rank_;
  std::vector<std::uint32_t> activates_;                                ///< by bank
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> rows_;  ///< by bank and row
  std::vector<Worst> worst_;                                            ///< by bank
  std::vector<std::uint32_t> since_alert_;                              ///< by rank
};

}  // namespace cxloom

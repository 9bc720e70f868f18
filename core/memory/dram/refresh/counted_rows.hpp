// A row policy that counts activates besides: it stands before another where activates are managed, so that
// they cost nothing where they are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/dram/refresh/refresher.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramCountedRows final : public DramRowPolicy {
 public:
  /// `now` is the time of the sub-channel, and `next_due` when it next looks at what is due.
  DramCountedRows(std::unique_ptr<DramRowPolicy> policy, DramRefresher& refresher, const Clock& now,
                  Clock& next_due)
      : policy_(std::move(policy)), refresher_(refresher), now_(now), next_due_(next_due) {}

  void opened(std::uint32_t bank, std::uint32_t row) override {
    policy_->opened(bank, row);
    refresher_.opened(bank, row, now_);
    next_due_ = std::min(next_due_, refresher_.due());
  }
  bool used(std::uint32_t bank, bool again, Clock now) override { return policy_->used(bank, again, now); }
  bool times_out() const override { return policy_->times_out(); }
  Clock close_at(std::uint32_t bank) const override { return policy_->close_at(bank); }

 private:
  const std::unique_ptr<DramRowPolicy> policy_;
  DramRefresher& refresher_;
  const Clock& now_;
  Clock& next_due_;
};

/// The policy, with counts before it where activates are managed.
inline std::unique_ptr<DramRowPolicy> counted_rows(std::unique_ptr<DramRowPolicy> policy,
                                                   DramRefresher& refresher, const Clock& now,
                                                   Clock& next_due) {
  if (!refresher.manages()) return policy;
  return std::make_unique<DramCountedRows>(std::move(policy), refresher, now, next_due);
}

}  // namespace cxloom

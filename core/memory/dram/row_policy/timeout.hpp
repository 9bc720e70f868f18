// The row policy `timeout`: a row that nobody has used for a while is closed.
#pragma once

#include <vector>

#include "base/schema.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramRowTimeout final : public DramRowPolicy {
 public:
  struct Params {
    Time after{100'000};

    static void describe(Schema<Params>& schema) {
      schema.doc("A row is closed that nobody has used for a while.");
      schema.field("after", &Params::after).doc("The row is closed so long after its last access.");
    }
  };
  DramRowTimeout(const Params& params, const DramRowContext& context)
      : timeout_(context.clock.edge_at(params.after)), close_at_(context.banks) {}

  bool used(std::uint32_t bank, bool /*again*/, Clock now) override {
    close_at_[bank] = now + timeout_;
    return false;
  }
  bool times_out() const override { return true; }
  Clock close_at(std::uint32_t bank) const override { return close_at_[bank]; }

 private:
  Clock timeout_;
  std::vector<Clock> close_at_;  ///< by bank
};

}  // namespace cxloom

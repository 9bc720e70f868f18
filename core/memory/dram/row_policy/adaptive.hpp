// The row policy `adaptive`: as `closed` where a two-bit counter of the bank predicts that the row is not
// wanted again.
#pragma once

#include <vector>

#include "base/schema.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramRowAdaptive final : public DramRowPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "A row is closed after its last waiting access, unless a two-bit counter of the bank predicts from "
          "its last rows that it will be wanted again.");
    }
  };
  DramRowAdaptive(const Params& /*params*/, const DramRowContext& context) : banks_(context.banks) {}

  /// The counter goes up if the row is the bank's last one, and down if not.
  void opened(std::uint32_t bank, std::uint32_t row) override {
    Bank& state = banks_[bank];
    if (state.last_row == row) {
      if (state.counter < 3) ++state.counter;
    } else if (state.counter > 0) {
      --state.counter;
    }
    state.last_row = row;
  }
  bool used(std::uint32_t bank, bool again, Clock /*now*/) override {
    std::uint8_t& counter = banks_[bank].counter;
    if (again && counter < 3) ++counter;
    return counter < 2;
  }

 private:
  struct Bank {
    std::int64_t last_row = DramTimers::kClosed;
    std::uint8_t counter = 2;  ///< 2 and 3 predict that the row will be wanted again
  };

  std::vector<Bank> banks_;
};

}  // namespace cxloom

// The row policy `closed`: a row is closed with the last access that waits for it.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramRowClosed final : public DramRowPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("A row is closed after its last waiting access.");
    }
  };
  DramRowClosed(const Params& /*params*/, const DramRowContext& /*context*/) {}

  bool used(std::uint32_t /*bank*/, bool /*again*/, Clock /*now*/) override { return true; }
};

}  // namespace cxloom

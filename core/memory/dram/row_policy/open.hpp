// The row policy `open`: a row stays until another is wanted, or a refresh comes.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramRowOpen final : public DramRowPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("A row is closed when another is wanted."); }
  };
  DramRowOpen(const Params& /*params*/, const DramRowContext& /*context*/) {}

  bool used(std::uint32_t /*bank*/, bool /*again*/, Clock /*now*/) override { return false; }
};

}  // namespace cxloom

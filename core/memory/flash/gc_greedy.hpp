// The block with the fewest current pages is collected: least is moved for what becomes free.
#pragma once

#include "base/schema.hpp"
#include "memory/flash/gc_policy.hpp"

namespace cxloom {

class GreedyCollector final : public GcPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("The block with the fewest current pages: the best if all pages are written equally often.");
    }
  };
  GreedyCollector(const Params& /*params*/, const GcContext& context) : pages_(context.pages) {}

  double score(const FlashBlock& block, std::uint64_t /*now*/) override {
    return static_cast<double>(pages_ - block.current);
  }

 private:
  std::uint32_t pages_;
};

}  // namespace cxloom

// Benefit over cost: the pages that become free, times the time since the block last changed, over the pages
// that are read and written for it (Rosenblum and Ousterhout, "The Design and Implementation of a
// Log-Structured File System", TOCS 1992; in flash Kawaguchi et al., "A Flash-Memory Based File System",
// USENIX 1995).
#pragma once

#include <limits>

#include "base/schema.hpp"
#include "memory/flash/gc_policy.hpp"

namespace cxloom {

class CostBenefitCollector final : public GcPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "The block with the highest age x (1 - u) / 2u, where u is the share of its pages that are "
          "current: what is seldom written is collected before it has many free pages.");
    }
  };
  CostBenefitCollector(const Params& /*params*/, const GcContext& context) : pages_(context.pages) {}

  double score(const FlashBlock& block, std::uint64_t now) override {
    if (block.current == 0) return std::numeric_limits<double>::infinity();
    const double used = static_cast<double>(block.current) / static_cast<double>(pages_);
    return static_cast<double>(now - block.modified) * (1.0 - used) / (2.0 * used);
  }

 private:
  std::uint32_t pages_;
};

}  // namespace cxloom

// Interleave: pages go round the nodes, so many to each in turn (MPOL_INTERLEAVE, and with weights
// MPOL_WEIGHTED_INTERLEAVE of Linux 6.9).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class InterleavePlacement final : public PagePlacement {
 public:
  enum class By : std::uint8_t { kTouch, kAddress };

  struct Params {
    std::vector<std::string> nodes;
    std::vector<std::uint32_t> weights;
    By by = By::kTouch;

    static void describe(Schema<Params>& schema);
  };
  InterleavePlacement(const Params& params, const PlacementContext& context);
  std::optional<Choice> place(std::uint64_t page, std::uint64_t count,
                              std::span<const std::uint64_t> free) override;
  Round round(std::uint64_t page, std::uint64_t count) const override;
  void nodes_changed(const std::vector<bool>& has_memory) override;
  void restart() override { touched_ = 0; }
  std::vector<std::vector<std::size_t>> named() const override { return named_; }
  bool is_explicit(std::uint64_t /*page*/) const override { return true; }

 private:
  struct NodeTurn {
    std::size_t node;
    std::uint64_t pages;
    std::vector<std::size_t> fallback;  ///< the others, nearest first
  };

  std::vector<NodeTurn> all_;     // turns of ranges of pages
  std::vector<NodeTurn> shares_;  // turns of nodes that have memory
  std::vector<std::vector<std::size_t>> named_;
  std::vector<std::size_t> otherwise_;  // nodes for when there are none, nearest first
  std::uint64_t round_ = 0;             // pages
  By by_;
  std::uint64_t touched_ =
      0;  // of the round: whole rounds leave it as it was, whatever nodes there are later
};

}  // namespace cxloom

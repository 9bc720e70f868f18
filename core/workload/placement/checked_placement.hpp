// A placement whose choices are looked at: one of a plug-in may name a node that is not there, or frames that
// nobody has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "workload/placement/numa_nodes.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class CheckedPlacement final : public PagePlacement {
 public:
  /// `nodes` are those of the program; they outlive it. `key` says in the spec what placement this is.
  CheckedPlacement(std::unique_ptr<PagePlacement> placement, std::span<const NumaNode> nodes, const char* key)
      : placement_(std::move(placement)), nodes_(nodes), key_(key) {}

  /// Throws InputError, with the key, for a choice that nothing can follow.
  std::optional<Choice> place(std::uint64_t page, std::uint64_t count,
                              std::span<const std::uint64_t> free) override;
  Round round(std::uint64_t page, std::uint64_t count) const override {
    const Round round = placement_->round(page, count);
    return {round.pages, std::min(round.until, count)};
  }
  void nodes_changed(const std::vector<bool>& has_memory) override { placement_->nodes_changed(has_memory); }
  void restart() override { placement_->restart(); }
  std::vector<std::vector<std::size_t>> named() const override { return placement_->named(); }
  std::uint64_t sure_of() const override { return placement_->sure_of(); }
  bool is_explicit(std::uint64_t page) const override { return placement_->is_explicit(page); }

 private:
  std::unique_ptr<PagePlacement> placement_;
  std::span<const NumaNode> nodes_;
  const char* key_;
};

}  // namespace cxloom

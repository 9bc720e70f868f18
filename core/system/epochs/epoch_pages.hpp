// Where the pages of a program are, by epochs, and their moves one after the other: a byte for each page.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "system/epochs/page_demand.hpp"

namespace cxloom {

class EpochPages {
 public:
  struct Move {
    std::uint64_t page = 0;
    std::size_t to = 0;
    bool urgent = false;
  };

  /// `nodes`: of each page. `frames`: of each node. `demand` outlives it.
  EpochPages(const PageDemand& demand, std::vector<std::uint8_t> nodes, std::vector<std::uint64_t> frames);

  std::uint64_t count() const { return nodes_.size(); }
  std::size_t node_of(std::uint64_t page) const { return nodes_[page]; }
  std::uint64_t free(std::size_t node) const { return free_[node]; }
  std::span<const std::uint64_t> free() const { return free_; }
  /// Pages in each node.
  std::span<const std::uint64_t> in_nodes() const { return in_nodes_; }
  /// The shares of a phase's accesses that go to each node, of the next ones.
  std::vector<double> shares(std::size_t phase, double accesses, double ahead) const;

  /// Behind what was ordered before; urgent ones before all others.
  void order(const Move& move);
  std::uint64_t waiting() const { return urgent_.size() + others_.size(); }
  /// The next move that can be made begins: it takes its frame. Nothing: there is none. Those that cannot be
  /// made are dropped.
  const std::optional<Move>& begin_next();
  const std::optional<Move>& under_way() const { return move_; }
  /// It is over: the page is there.
  void settle();
  std::uint64_t not_moved() const { return not_moved_; }

 private:
  const PageDemand& demand_;
  std::vector<std::uint8_t> nodes_;  // by page
  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> in_nodes_;
  std::vector<std::vector<double>> drawn_;  // shares, by phase and node
  std::deque<Move> urgent_;
  std::deque<Move> others_;
  std::optional<Move> move_;
  std::uint64_t not_moved_ = 0;
};

}  // namespace cxloom

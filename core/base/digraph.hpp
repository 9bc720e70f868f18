// A directed graph, and a circle in it if there is one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cxloom {

class Digraph {
 public:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;

  /// An edge may come several times.
  Digraph(std::uint32_t vertices, std::vector<Edge> edges);

  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  std::span<const std::uint32_t> next(std::uint32_t vertex) const {
    return {to_.data() + first_[vertex], first_[vertex + 1] - first_[vertex]};
  }
  std::size_t edge_count() const { return to_.size(); }

  /// The number of each vertex's strongly connected component. Edges between components lead from higher
  /// numbers to lower ones.
  std::vector<std::uint32_t> components() const;
  /// The vertices of a circle, in order, each once; empty: there is none. It is the shortest one through its
  /// first vertex.
  std::vector<std::uint32_t> circle() const;

 private:
  std::vector<std::uint32_t> circle_through(std::uint32_t vertex, const std::vector<std::uint32_t>& component,
                                            std::size_t shorter_than) const;

  std::vector<std::size_t> first_;  // by vertex, and the end
  std::vector<std::uint32_t> to_;
};

}  // namespace cxloom

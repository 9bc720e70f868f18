// The best that any packer could do with two classes of messages of one direction. Every way to fill a flit
// by the rules is an edge of a graph, whose nodes are what one flit leaves to the next: data under way and
// rolling counts. Long runs are cycles of it, and what they carry a flit is a polygon: its corners are the
// cycles that are best for some weights of the two classes, and as exact as their counts. Nothing of the
// packers is used, only the tables of formats.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/flit/packer.hpp"

namespace cxloom::test {

class LegalFlits {
 public:
  using Pair = std::array<unsigned, 2>;  ///< messages of each class
  /// A cycle of flits.
  struct Mix {
    Pair messages{};
    unsigned flits = 0;
    std::vector<Flit> pattern;  ///< twice, behind the flits that lead to it from an idle link

    double a_flit(std::size_t which) const { return static_cast<double>(messages[which]) / flits; }
  };

  LegalFlits(const FlitPacking& packing, Channel first, Channel second);

  /// From most messages of the first class to most of the second.
  const std::vector<Mix>& corners() const { return corners_; }
  /// Most messages per flit, both classes together, if `share` of them are of the first.
  double bound(double share) const;

 private:
  static constexpr unsigned kSlotsOfPiece = 4;

  /// A flit of 68 B is one piece; the others are four, whose messages count together.
  struct Node {
    unsigned piece = 0;  ///< that comes next
    unsigned data = 0;   ///< slots under way
    Pair last{};         ///< messages of the piece before
    Pair both{};         ///< those of it that count in the next one as well (256B-lo)
    auto operator<=>(const Node&) const = default;
  };
  using Slots = std::array<Pair, kSlotsOfPiece>;
  struct Edge {
    unsigned to;
    Pair messages;
    Slots slots;
  };
  /// A piece that is being filled.
  struct Filling {
    unsigned data = 0;
    Pair messages{};
    Pair both{};
    bool data_headers = false;
    Slots slots{};
  };
  using Weights = std::array<double, 2>;
  using Policy = std::vector<unsigned>;  // the edge taken at each node

  bool is_68b() const { return packing_.mode == FlitMode::k68B; }
  SlotType type_of(unsigned slot) const;
  unsigned node(const Node& of);
  void fill(unsigned from, unsigned k, const Filling& filling, std::set<std::pair<Node, Pair>>& found);
  bool may_place(const Node& from, unsigned slot, Pair messages, Filling& filling) const;
  const Edge& edge(const Policy& policy, unsigned at) const { return edges_[at][policy[at]]; }
  static double worth(const Weights& weights, const Pair& messages) {
    return weights[0] * messages[0] + weights[1] * messages[1];
  }
  unsigned best_cycle(const Policy& policy, const Weights& weights, double& mean) const;
  Mix best(const Weights& weights) const;
  Mix mix_of(const Policy& policy, unsigned root) const;
  std::vector<const Edge*> way_to(unsigned node) const;
  void write(unsigned first_slot, unsigned data, const Edge& edge, Flit& flit) const;

  FlitPacking packing_;
  std::array<Channel, 2> classes_;
  Pair limit_{};
  unsigned pieces_;
  std::array<std::map<Pair, std::uint8_t>, 3>
      formats_;  // by SlotType: what a slot may hold, and in which format
  std::map<Node, unsigned> numbers_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<Mix> corners_;
};

}  // namespace cxloom::test

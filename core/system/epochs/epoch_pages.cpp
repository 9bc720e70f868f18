#include "system/epochs/epoch_pages.hpp"

#include <utility>

namespace cxloom {

EpochPages::EpochPages(const PageDemand& demand, std::vector<std::uint8_t> nodes,
                       std::vector<std::uint64_t> frames)
    : demand_(demand), nodes_(std::move(nodes)), free_(std::move(frames)), in_nodes_(free_.size()) {
  for (const std::uint8_t node : nodes_) {
    ++in_nodes_[node];
    --free_[node];
  }
  for (std::size_t phase = 0; phase < demand_.phases(); ++phase) {
    std::vector<double>& shares = drawn_.emplace_back(free_.size());
    for (std::uint64_t page = 0; page < nodes_.size(); ++page)
      shares[nodes_[page]] += demand_.drawn_share(phase, page);
  }
}

std::vector<double> EpochPages::shares(std::size_t phase, double accesses, double ahead) const {
  std::vector<double> shares = drawn_[phase];
  for (const PageDemand::Sweep& sweep : demand_.sweeps(phase, accesses, ahead)) {
    const double each = sweep.share / static_cast<double>(sweep.ahead);
    for (std::uint64_t i = 0; i < sweep.ahead; ++i)
      shares[nodes_[sweep.first + (sweep.at + i) % sweep.pages]] += each;
  }
  return shares;
}

void EpochPages::order(const Move& move) { (move.urgent ? urgent_ : others_).push_back(move); }

const std::optional<EpochPages::Move>& EpochPages::begin_next() {
  while (!move_ && waiting() > 0) {
    std::deque<Move>& first = urgent_.empty() ? others_ : urgent_;
    const Move move = first.front();
    first.pop_front();
    if (nodes_[move.page] == move.to || free_[move.to] == 0) {
      ++not_moved_;
      continue;
    }
    --free_[move.to];
    move_ = move;
  }
  return move_;
}

void EpochPages::settle() {
  const Move move = *std::exchange(move_, std::nullopt);
  std::uint8_t& node = nodes_[move.page];
  for (std::size_t phase = 0; phase < drawn_.size(); ++phase) {
    const double share = demand_.drawn_share(phase, move.page);
    drawn_[phase][node] -= share;
    drawn_[phase][move.to] += share;
  }
  ++free_[node];
  --in_nodes_[node];
  ++in_nodes_[move.to];
  node = static_cast<std::uint8_t>(move.to);
}

}  // namespace cxloom

#include "core/protocol/flit/legal_flits.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/error.hpp"

namespace cxloom::test {
namespace {

constexpr unsigned kChunks = 4;  // of a line
constexpr unsigned kMostUnderWay = 36;
constexpr unsigned kMostAtHeader = 16;
constexpr double kRounding = 1e-9;

}  // namespace

LegalFlits::LegalFlits(const FlitPacking& packing, Channel first, Channel second)
    : packing_(packing), classes_{first, second}, pieces_(packing.mode == FlitMode::k68B ? 1 : 4) {
  for (std::size_t i = 0; i < 2; ++i) limit_[i] = largest_count(packing.mode, classes_[i]);
  for (const SlotType type : {SlotType::kHeader, SlotType::kGeneric, SlotType::kSecondHeader}) {
    auto& known = formats_[static_cast<std::size_t>(type)];
    const auto formats = slot_formats(packing.mode, type);
    for (std::size_t i = 0; i < formats.size(); ++i) {
      if (formats[i].zero_extended && !packing.zero_extended) continue;
      Pair most{};
      Pair least{};  // a 68B slot for several data headers has two at least, if any
      for (const SlotFormat::Part& part : formats[i].parts) {
        for (std::size_t k = 0; k < 2; ++k) {
          if (part.channel != classes_[k]) continue;
          most[k] = part.most;
          least[k] = is_68b() && is_data_class(part.channel) && part.most > 1 ? 2 : 1;
        }
      }
      for (unsigned a = 0; a <= most[0]; ++a) {
        for (unsigned b = 0; b <= most[1]; ++b) {
          if ((a == 0 || a >= least[0]) && (b == 0 || b >= least[1]))
            known.try_emplace({a, b}, static_cast<std::uint8_t>(i));
        }
      }
    }
    known.try_emplace({0, 0}, std::uint8_t{0});
  }

  node({});
  for (unsigned from = 0; from < nodes_.size(); ++from) {
    if (is_68b() && nodes_[from].data > 3) {
      const unsigned to = node({.data = nodes_[from].data - 4});
      edges_[from].push_back({to, {}, {}});
      continue;
    }
    std::set<std::pair<Node, Pair>> found;
    fill(from, 0, {.data = nodes_[from].data}, found);
  }

  // Between two corners, the weights for which both are as good tell whether there is another one.
  constexpr double kLittle = 1e-5;
  corners_ = {best({1, kLittle}), best({kLittle, 1})};
  for (std::size_t i = 0; i + 1 < corners_.size();) {
    const Mix& left = corners_[i];
    const Mix& right = corners_[i + 1];
    const Weights weights{right.a_flit(1) - left.a_flit(1), left.a_flit(0) - right.a_flit(0)};
    const auto value = [&](const Mix& mix) {
      return weights[0] * mix.a_flit(0) + weights[1] * mix.a_flit(1);
    };
    const Mix between = best(weights);
    if (value(between) > value(left) + 1e-6) {
      corners_.insert(corners_.begin() + static_cast<std::ptrdiff_t>(i) + 1, between);
    } else {
      ++i;
    }
  }
}

double LegalFlits::bound(double share) const {
  const Weights part{share, 1 - share};
  double most = std::numeric_limits<double>::infinity();
  if (share > 0) most = std::min(most, corners_.front().a_flit(0) / share);
  if (share < 1) most = std::min(most, corners_.back().a_flit(1) / (1 - share));
  for (std::size_t i = 0; i + 1 < corners_.size(); ++i) {
    const Mix& left = corners_[i];
    const Mix& right = corners_[i + 1];
    const Weights weights{right.a_flit(1) - left.a_flit(1), left.a_flit(0) - right.a_flit(0)};
    const double value = weights[0] * left.a_flit(0) + weights[1] * left.a_flit(1);
    most = std::min(most, value / (weights[0] * part[0] + weights[1] * part[1]));
  }
  return most;
}

// --- The graph ---

SlotType LegalFlits::type_of(unsigned slot) const {
  if (slot == 0) return SlotType::kHeader;
  return geometry(packing_.mode).is_header(slot) ? SlotType::kSecondHeader : SlotType::kGeneric;
}

unsigned LegalFlits::node(const Node& of) {
  const auto [found, fresh] = numbers_.try_emplace(of, static_cast<unsigned>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(of);
    edges_.emplace_back();
  }
  return found->second;
}

/// All ways to fill the piece that follows a node, from its k-th slot on.
void LegalFlits::fill(unsigned from, unsigned k, const Filling& filling,
                      std::set<std::pair<Node, Pair>>& found) {
  const Node at = nodes_[from];
  const unsigned slot = at.piece * kSlotsOfPiece + k;
  if (k == kSlotsOfPiece || slot == geometry(packing_.mode).slots) {
    Node to{.data = filling.data};
    if (!is_68b()) {
      to.piece = (at.piece + 1) % pieces_;
      to.last = {filling.messages[0] + at.both[0], filling.messages[1] + at.both[1]};
      to.both = filling.both;
    }
    if (!found.insert({to, filling.messages}).second) return;
    const unsigned number = node(to);
    edges_[from].push_back({number, filling.messages, filling.slots});
    return;
  }
  const SlotType type = type_of(slot);
  if (type == SlotType::kGeneric && filling.data > 0) {
    Filling next = filling;
    --next.data;
    fill(from, k + 1, next, found);
    return;
  }
  for (const auto& [messages, format] : formats_[static_cast<std::size_t>(type)]) {
    Filling next = filling;
    if (!may_place(at, slot, messages, next)) continue;
    next.slots[k] = messages;
    fill(from, k + 1, next, found);
  }
}

/// Puts messages into a slot of the piece behind `from`, if the rules allow it.
bool LegalFlits::may_place(const Node& from, unsigned slot, Pair messages, Filling& filling) const {
  unsigned lines = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    filling.messages[i] += messages[i];
    if (filling.messages[i] + from.last[i] > limit_[i]) return false;
    if (is_data_class(classes_[i])) lines += messages[i];
  }
  if (packing_.mode == FlitMode::k256BLo && slot == 7) filling.both = messages;
  if (lines == 0) return true;
  if (is_68b() && std::exchange(filling.data_headers, true)) return false;
  if (!is_68b() && type_of(slot) != SlotType::kGeneric && filling.data > kMostAtHeader) return false;
  filling.data += kChunks * lines;
  return is_68b() || filling.data <= kMostUnderWay;
}

// --- Its best cycles: policy iteration (Howard's algorithm) ---

LegalFlits::Mix LegalFlits::best(const Weights& weights) const {
  Policy policy(nodes_.size(), 0);
  std::vector<double> value(nodes_.size(), 0);
  for (;;) {
    double mean = 0;
    const unsigned root = best_cycle(policy, weights, mean);
    // What each node on the way to that cycle is worth beside it.
    std::vector<std::vector<unsigned>> before(nodes_.size());
    for (unsigned at = 0; at < nodes_.size(); ++at) before[edge(policy, at).to].push_back(at);
    std::vector<unsigned> reached{root};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const unsigned at : before[reached[i]]) {
        if (at == root) continue;
        value[at] = value[reached[i]] + worth(weights, edge(policy, at).messages) - mean;
        reached.push_back(at);
      }
    }
    bool better = false;
    for (unsigned at = 0; at < nodes_.size(); ++at) {
      for (unsigned i = 0; i < edges_[at].size(); ++i) {
        const Edge& other = edges_[at][i];
        const double gained = value[other.to] + worth(weights, other.messages) - mean;
        if (gained <= value[at] + kRounding) continue;
        value[at] = gained;
        policy[at] = i;
        better = true;
      }
    }
    if (!better) return mix_of(policy, root);
  }
}

/// A node of the policy's cycle with the highest mean.
unsigned LegalFlits::best_cycle(const Policy& policy, const Weights& weights, double& mean) const {
  constexpr unsigned kUnseen = ~0U;
  std::vector<unsigned> seen_from(nodes_.size(), kUnseen);
  unsigned root = 0;
  mean = -1;
  for (unsigned start = 0; start < nodes_.size(); ++start) {
    unsigned at = start;
    for (; seen_from[at] == kUnseen; at = edge(policy, at).to) seen_from[at] = start;
    if (seen_from[at] != start) continue;
    double sum = 0;
    unsigned length = 0;
    const unsigned first = at;
    do {
      sum += worth(weights, edge(policy, at).messages);
      ++length;
      at = edge(policy, at).to;
    } while (at != first);
    if (sum / length > mean + kRounding) mean = sum / length, root = first;
  }
  return root;
}

// --- Its flits ---

LegalFlits::Mix LegalFlits::mix_of(const Policy& policy, unsigned root) const {
  while (nodes_[root].piece != 0) root = edge(policy, root).to;
  Mix mix;
  std::vector<const Edge*> cycle;
  unsigned at = root;
  do {
    cycle.push_back(&edge(policy, at));
    for (std::size_t i = 0; i < 2; ++i) mix.messages[i] += cycle.back()->messages[i];
    at = cycle.back()->to;
  } while (at != root);
  mix.flits = static_cast<unsigned>(cycle.size()) / pieces_;

  std::vector<const Edge*> way = way_to(root);
  for (unsigned i = 0; i < 2; ++i) way.insert(way.end(), cycle.begin(), cycle.end());
  const Node* from = nodes_.data();
  std::deque<unsigned> under_way;  // slots left of each line
  for (const Edge* edge : way) {
    if (from->piece == 0) {
      Flit& flit = mix.pattern.emplace_back();
      flit.mode = packing_.mode;
      flit.kind = is_68b() && from->data > 3 ? FlitKind::kAllData : FlitKind::kProtocol;
      flit.slots = static_cast<std::uint16_t>(geometry(packing_.mode).slots);
    }
    write(from->piece * kSlotsOfPiece, from->data, *edge, mix.pattern.back());
    from = &nodes_[edge->to];
  }
  for (Flit& flit : mix.pattern) {
    std::size_t next = 0;
    for (unsigned slot = 0; slot < flit.slots; ++slot) {
      ++flit.count(flit.slot[slot].kind);
      for (; next < flit.message_count && flit.message[next].slot == slot; ++next) {
        if (is_data_class(flit.message[next].channel)) under_way.push_back(kChunks);
      }
      if (flit.slot[slot].kind != SlotKind::kData || --under_way.front() > 0) continue;
      under_way.pop_front();
      flit.end[flit.end_count++] = static_cast<std::uint8_t>(slot);
    }
  }
  return mix;
}

/// The fewest pieces from an idle link to a node.
std::vector<const LegalFlits::Edge*> LegalFlits::way_to(unsigned node) const {
  std::map<unsigned, std::vector<const Edge*>> ways{{0, {}}};
  std::deque<unsigned> open{0};
  while (!ways.contains(node)) {
    const unsigned at = open.front();
    open.pop_front();
    for (const Edge& edge : edges_[at]) {
      const auto [found, fresh] = ways.try_emplace(edge.to, ways[at]);
      if (!fresh) continue;
      found->second.push_back(&edge);
      open.push_back(edge.to);
    }
  }
  return ways[node];
}

/// The slots and messages of a piece, `data` slots being under way before it.
void LegalFlits::write(unsigned first_slot, unsigned data, const Edge& edge, Flit& flit) const {
  for (unsigned k = 0; k < kSlotsOfPiece && first_slot + k < flit.slots; ++k) {
    const unsigned slot = first_slot + k;
    const SlotType type = type_of(slot);
    if (data > 0 && (type == SlotType::kGeneric || flit.kind == FlitKind::kAllData)) {
      flit.slot[slot] = {SlotKind::kData, 0};
      --data;
      continue;
    }
    const Pair& messages = edge.slots[k];
    if (messages == Pair{}) {
      flit.slot[slot] = {SlotKind::kEmpty, 0};
      continue;
    }
    const std::uint8_t format = formats_[static_cast<std::size_t>(type)].at(messages);
    flit.slot[slot] = {SlotKind::kHeader, format};
    for (const SlotFormat::Part& part : slot_formats(packing_.mode, type)[format].parts) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (part.most == 0 || part.channel != classes_[i]) continue;
        const bool with_data = is_data_class(classes_[i]);
        for (unsigned count = 0; count < messages[i]; ++count) {
          flit.message[flit.message_count++] = {classes_[i], static_cast<std::uint8_t>(slot),
                                                with_data ? DataShape{} : DataShape{0, false}};
        }
        if (with_data) data += kChunks * messages[i];
      }
    }
  }
}

}  // namespace cxloom::test

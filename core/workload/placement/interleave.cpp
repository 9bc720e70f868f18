#include "workload/placement/interleave.hpp"

#include <algorithm>
#include <numeric>

namespace cxloom {

namespace {

/// With the nodes in the order written: weights are theirs. Linux knows nodes by number, and goes round by
/// that.
std::vector<std::size_t> written_order(const std::vector<std::string>& names,
                                       const PlacementContext& context) {
  if (names.empty()) return nodes_named(context.nodes, {});
  static_cast<void>(nodes_named(context.nodes, names, context.others));  // refuses names that are none
  std::vector<std::size_t> order;
  for (const std::string& name : names) {
    for (const std::size_t node : nodes_named(context.nodes, {name})) {
      if (std::ranges::find(order, node) == order.end()) order.push_back(node);
    }
  }
  return order;
}

}  // namespace

void InterleavePlacement::Params::describe(Schema<Params>& schema) {
  schema.doc("Round the nodes, page by page. A page whose node is full goes to the nearest other with room.");
  schema.field("nodes", &Params::nodes)
      .default_text("all, in the order of the address map")
      .doc("Memories whose nodes they are.");
  schema.field("weights", &Params::weights)
      .default_text("1 for each")
      .where(
          [](const auto& weights) {
            return std::ranges::all_of(weights, [](std::uint32_t weight) { return weight <= 65'535; });
          },
          "at most 65535 each")
      .doc(
          "Pages in a row to each of the nodes, in their order. A node of weight 0 gets what others have no "
          "room for.");
  schema.rule(
      "the weights sum to nothing: no node would get a page",
      [](const Params& params) {
        return params.weights.empty() ||
               std::ranges::any_of(params.weights, [](std::uint32_t weight) { return weight > 0; });
      },
      "weights");
  schema.choice("by", &Params::by, {{"touch", By::kTouch}, {"address", By::kAddress}})
      .doc(
          "What a page's turn goes by: the order in which pages are touched, as that of a task's policy does "
          "(numactl), or the page's number, as that of a mapping's does (mbind).");
}

InterleavePlacement::InterleavePlacement(const Params& params, const PlacementContext& context)
    : otherwise_(nearest_first(context.nodes)), by_(params.by) {
  const std::vector<std::size_t> nodes = written_order(params.nodes, context);
  if (!params.weights.empty() && params.weights.size() != nodes.size()) {
    std::string each;
    for (const std::size_t node : nodes) each += (each.empty() ? "" : ", ") + context.nodes[node].name();
    throw InputError({"as many weights as nodes are needed",
                      std::to_string(params.weights.size()),
                      std::to_string(nodes.size()) + ", for " + each,
                      {}},
                     "weights");
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint64_t weight = params.weights.empty() ? 1 : params.weights[i];
    if (weight == 0) continue;
    std::vector<std::size_t> fallback = nearest_first(context.nodes);
    std::erase(fallback, nodes[i]);
    all_.push_back({nodes[i], weight, std::move(fallback)});
    round_ += weight;
  }
  shares_ = all_;
  for (std::vector<std::size_t>& of_name : nodes_of_each(context.nodes, params.nodes)) {
    std::erase_if(of_name, [&](std::size_t node) {  // a weight of 0 asks for no pages
      return std::ranges::find(all_, node, &NodeTurn::node) == all_.end();
    });
    if (!of_name.empty()) named_.push_back(std::move(of_name));
  }
}

// A node without memory is none to Linux: the others have its turns.
void InterleavePlacement::nodes_changed(const std::vector<bool>& has_memory) {
  shares_.clear();
  round_ = 0;
  for (const NodeTurn& share : all_) {
    if (!has_memory[share.node]) continue;
    shares_.push_back(share);
    round_ += share.pages;
  }
}

std::optional<PagePlacement::Choice> InterleavePlacement::place(std::uint64_t page, std::uint64_t count,
                                                                std::span<const std::uint64_t> free) {
  if (shares_.empty()) return first_with_room(otherwise_, count, free);
  std::uint64_t place = (by_ == By::kTouch ? touched_ : page) % round_;
  auto share = shares_.begin();
  for (; place >= share->pages; ++share) place -= share->pages;
  const std::uint64_t rest = std::min(count, share->pages - place);
  auto choice = first_with_room({&share->node, 1}, rest, free);
  if (!choice) choice = first_with_room(share->fallback, rest, free);
  if (choice) touched_ += choice->pages;
  return choice;
}

PagePlacement::Round InterleavePlacement::round(std::uint64_t /*page*/, std::uint64_t count) const {
  return shares_.empty() ? Round{} : Round{round_, count};
}

}  // namespace cxloom

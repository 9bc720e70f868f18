#include "system/serving/fabric_symmetry.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/json.hpp"

namespace cxloom {

namespace {

Value without(const Value& map, std::initializer_list<const char*> keys) {
  Value::Map left;
  for (const auto& [key, value] : *map.as_map()) {
    if (std::ranges::find(keys, key) == keys.end()) left.emplace_back(key, value);
  }
  return left;
}

std::vector<std::string> texts(const Value* value) {
  std::vector<std::string> found;
  if (!value) return found;
  if (value->as_text()) return {*value->as_text()};
  if (!value->as_list()) return found;
  for (const Value& each : *value->as_list()) {
    if (each.as_text()) found.push_back(*each.as_text());
  }
  return found;
}

}  // namespace

FabricSymmetry::FabricSymmetry(const Value& fabric, const std::vector<std::vector<std::string>>& own,
                               const std::vector<std::string>& common, bool ways_differ)
    : comparable_(!ways_differ) {
  read(fabric);
  for (const std::string& device : common) {
    const std::uint32_t node = numbers_.at(device);
    about_[node] += "\nof all servers: " + std::to_string(node);
  }
  for (const auto& devices : own) {
    Order& numbers = own_.emplace_back();
    for (const std::string& device : devices) numbers.push_back(numbers_.at(device));
  }
  std::ranges::sort(edges_);
  find_groups();
}

std::uint32_t FabricSymmetry::add_node(const std::string& name, std::string about) {
  const auto number = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(name, number);
  names_.push_back(name);
  about_.push_back(std::move(about));
  return number;
}

// Devices that parameters name are edges, too.
Value FabricSymmetry::without_names(const Value& value, std::uint32_t node, const std::string& path) {
  if (const std::string* text = value.as_text()) {
    const auto named = numbers_.find(*text);
    if (named == numbers_.end()) return value;
    edges_.push_back({node, named->second, path});
    return "(a device)";
  }
  if (value.as_map()) {
    Value::Map map;
    for (const auto& [key, item] : *value.as_map()) {
      std::string below = path;
      below += '.';
      below += key;
      // What is said of each of several devices, by its name.
      if (const auto named = numbers_.find(key); named != numbers_.end()) {
        edges_.push_back({node, named->second, path + " " + to_json(without_names(item, node, below))});
        continue;
      }
      map.emplace_back(key, without_names(item, node, below));
    }
    return map;
  }
  if (!value.as_list()) return value;
  Value::List list;
  for (const Value& item : *value.as_list()) list.push_back(without_names(item, node, path + "[]"));
  return list;
}

void FabricSymmetry::read(const Value& fabric) {
  for (const auto& [name, params] : *fabric.find("devices")->as_map()) add_node(name, {});
  for (const auto& [name, params] : *fabric.find("devices")->as_map()) {
    const std::uint32_t node = numbers_.at(name);
    const Value about = without_names(without(params, {"kind"}), node, "");
    const Value* const kind = params.find("kind");
    about_[node] = (kind ? to_json(*kind) : std::string()) + to_json(about);
  }
  if (const Value* links = fabric.find("links"); links && links->as_list()) {
    for (const Value& link : *links->as_list()) {
      const std::vector<std::string> ends = texts(link.find("between"));
      edges_.push_back(
          {numbers_.at(ends.at(0)), numbers_.at(ends.at(1)), "link " + to_json(without(link, {"between"}))});
    }
  }
  // Where a region begins is no difference.
  if (const Value* regions = fabric.find("address_map"); regions && regions->as_list()) {
    for (const Value& region : *regions->as_list()) {
      const std::uint32_t node = add_node("region " + std::to_string(names_.size()), {});
      about_[node] = "region " + to_json(without_names(without(region, {"base"}), node, ""));
    }
  }
}

std::vector<std::uint32_t> FabricSymmetry::colours(std::size_t one, std::size_t other) const {
  std::vector<std::string> marks = about_;
  for (std::size_t server = 0; server < own_.size(); ++server) {
    const std::string name = server == one || server == other ? "*" : std::to_string(server);
    for (std::size_t i = 0; i < own_[server].size(); ++i)
      marks[own_[server][i]] += "\n" + name + ":" + std::to_string(i);
  }
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> colour;
  for (const std::string& mark : marks)
    colour.push_back(known.emplace(mark, static_cast<std::uint32_t>(known.size())).first->second);
  std::map<std::string, std::uint32_t> kinds;
  for (const Edge& edge : edges_) kinds.emplace(edge.what, static_cast<std::uint32_t>(kinds.size()));
  using Sight = std::pair<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;
  for (std::size_t count = known.size();;) {
    std::vector<Sight> sights(colour.size());
    for (std::size_t node = 0; node < colour.size(); ++node) sights[node].first = colour[node];
    for (const Edge& edge : edges_) {
      const std::uint32_t kind = 2 * kinds.at(edge.what);
      sights[edge.from].second.emplace_back(kind, colour[edge.to]);
      sights[edge.to].second.emplace_back(kind + 1, colour[edge.from]);
    }
    std::map<Sight, std::uint32_t> seen;
    for (std::size_t node = 0; node < colour.size(); ++node) {
      std::ranges::sort(sights[node].second);
      colour[node] = seen.emplace(sights[node], static_cast<std::uint32_t>(seen.size())).first->second;
    }
    if (seen.size() == count) return colour;
    count = seen.size();
  }
}

std::optional<FabricSymmetry::Order> FabricSymmetry::exchange(std::size_t one, std::size_t other) const {
  const std::vector<std::uint32_t> colour = colours(one, other);
  std::map<std::uint32_t, Order> by_colour;
  for (std::uint32_t node = 0; node < colour.size(); ++node) by_colour[colour[node]].push_back(node);
  Order order(colour.size());
  std::iota(order.begin(), order.end(), 0U);
  for (const auto& [each, nodes] : by_colour) {
    if (nodes.size() == 2) std::swap(order[nodes[0]], order[nodes[1]]);
  }
  for (std::size_t i = 0; i < own_[one].size(); ++i) {
    if (order[own_[one][i]] != own_[other][i]) return std::nullopt;
  }
  return changes_nothing(order) ? std::optional(order) : std::nullopt;
}

bool FabricSymmetry::changes_nothing(const Order& order) const {
  std::vector<Edge> changed;
  for (const Edge& edge : edges_) changed.push_back({order[edge.from], order[edge.to], edge.what});
  std::ranges::sort(changed);
  return changed == edges_;
}

void FabricSymmetry::find_groups() {
  alike_.resize(names_.size());
  std::iota(alike_.begin(), alike_.end(), 0U);
  for (std::uint32_t server = 0; server < own_.size(); ++server) {
    groups_.push_back(server);
    std::set<std::uint32_t> tried;
    for (std::uint32_t before = 0; comparable_ && before < server; ++before) {
      if (!tried.insert(groups_[before]).second) continue;
      const auto order = exchange(before, server);
      if (!order) continue;
      groups_[server] = groups_[before];
      for (std::uint32_t node = 0; node < order->size(); ++node) {
        const auto [first, second] = std::minmax({first_of(node), first_of((*order)[node])});
        alike_[second] = first;
      }
      break;
    }
  }
}

std::uint32_t FabricSymmetry::first_of(std::uint32_t node) const {
  while (alike_[node] != node) node = alike_[node];
  return node;
}

const std::string& FabricSymmetry::first_alike(const std::string& device) const {
  return names_[first_of(numbers_.at(device))];
}

std::size_t FabricSymmetry::count_alike(const std::string& device) const {
  const std::uint32_t first = first_of(numbers_.at(device));
  std::size_t count = 0;
  for (std::uint32_t node = 0; node < alike_.size(); ++node) count += first_of(node) == first ? 1 : 0;
  return count;
}

}  // namespace cxloom

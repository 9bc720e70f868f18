// Which servers of a system may change places: what is measured for one of them holds for the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/value.hpp"

namespace cxloom {

/// Servers are alike if an exchange of the two, with what is theirs, changes nothing in the spec but names,
/// and leaves all other servers where they are. So any order of those of a group is as good as another one.
class FabricSymmetry {
 public:
  /// `fabric` is a resolved spec. `own` has the devices of each server, all in one order; `common` are those
  /// of all servers, each of which stays where it is. Where ways differ by the names of devices, or by their
  /// numbers, nothing is alike.
  FabricSymmetry(const Value& fabric, const std::vector<std::vector<std::string>>& own,
                 const std::vector<std::string>& common, bool ways_differ);

  /// Servers with the same number are alike.
  const std::vector<std::uint32_t>& groups() const { return groups_; }
  /// The first of the devices with which this one may change places, which may be itself.
  const std::string& first_alike(const std::string& device) const;
  /// How many may change places with it, itself among them.
  std::size_t count_alike(const std::string& device) const;

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    std::string what;
    auto operator<=>(const Edge&) const = default;
  };
  using Order = std::vector<std::uint32_t>;  // the place of each node

  void read(const Value& fabric);
  std::uint32_t add_node(const std::string& name, std::string about);
  Value without_names(const Value& value, std::uint32_t node, const std::string& path);
  std::vector<std::uint32_t> colours(std::size_t one, std::size_t other) const;
  std::optional<Order> exchange(std::size_t one, std::size_t other) const;
  bool changes_nothing(const Order& order) const;
  void find_groups();
  std::uint32_t first_of(std::uint32_t node) const;

  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
  std::vector<std::string> about_;
  std::vector<Edge> edges_;
  std::vector<Order> own_;  // by server
  bool comparable_;
  std::vector<std::uint32_t> groups_;
  std::vector<std::uint32_t> alike_;  // a node before it that it may change places with, or itself
};

}  // namespace cxloom

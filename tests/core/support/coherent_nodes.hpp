// Who is who to coherence: which nodes have a cache, which node is the home of a line, and from whom to whom
// a message goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "coherence/cache/agent.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/home/directory_agent.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"

namespace cxloom::test {

/// The caches and homes of a system, beside the map that says whose line is whose.
class CoherentNodes {
 public:
  struct Cache {
    NodeId node;
    const CacheAgent* agent;
    bool notifies;  // the home of what leaves it
  };
  /// The number of a cache that there is not.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit CoherentNodes(const AddressMap& map) : map_(map) {}

  // All of these before the first question.
  void add(NodeId node, const CacheAgent& cache, CleanEvictions clean_evictions);
  void add(NodeId node, DirectoryAgent& home);

  /// In the order in which they were added, which is that of their numbers.
  const std::vector<Cache>& caches() const { return caches_; }
  /// The number of a node's cache; kNone if it has none.
  std::uint32_t cache_at(NodeId node) const;

  bool coherent(LineAddress line) const { return mode(line) != Coherence::kNone; }
  /// A device may be the home of some lines and no more than the memory of others.
  bool is_home(NodeId node, LineAddress line) const;
  /// Nothing where the home of a coherent line is not one of those here.
  const DirectoryAgent* home_of(LineAddress line) const;
  /// Its home waits for the end of a snoop, or for data, of which this message is a part.
  bool awaits(const Message& answer) const;
  /// Whether the home's filter has the lines of that cache.
  bool follows(LineAddress line, NodeId cache) const;
  /// "{h0,h1}", as the home tells its owners.
  std::string owners_of(LineAddress line) const;
  /// Whether these owners have the cache of the node among them.
  bool lists(const std::string& owners, NodeId node) const;

  bool is_snoop(const Message& message) const;
  bool from_home(const Message& message) const;
  bool to_home(const Message& message) const;

 private:
  Coherence mode(LineAddress line) const;
  DirectoryAgent* home_at(NodeId node) const;

  const AddressMap& map_;
  std::vector<Cache> caches_;
  std::vector<std::uint32_t> cache_of_node_;
  std::vector<DirectoryAgent*> home_of_node_;
};

}  // namespace cxloom::test

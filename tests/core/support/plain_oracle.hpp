// Follows the values of lines that nobody keeps coherent, as coherence_oracle.hpp does of those that somebody
// does. Each of them is used by one requester.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/units.hpp"
#include "coherence/cache/agent.hpp"
#include "core/support/coherence_oracle.hpp"
#include "protocol/address_map.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom::test {

/// It checks of every such line that
/// - each access in a cache sees the latest write, and a write has a dirty line;
/// - what an atomic operation of the memory reads is the latest write;
/// - what its user asks of memory does not overtake its write-back: memory has nothing but what has come to
/// it;
/// - no write-back comes over a later value, and the latest is in the cache or in memory at the end.
///
/// A write past the caches, and an atomic operation of the memory, takes effect when it comes to the memory.
class PlainOracle final : public ProtocolObserver {
 public:
  using Version = CoherenceOracle::Version;

  /// `log` is told what happens.
  PlainOracle(const AddressMap& map, CoherenceOracle& log) : map_(map), log_(log) {}
  /// Before the first message: the devices with a cache.
  void add(NodeId node, const CacheAgent& cache) { caches_[node.index()] = &cache; }

  void sent(const Message& message, Time at) override;
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override;
  void performed(NodeId node, LineAddress line, AccessKind kind, Time now) override;

  /// Nothing is under way any more.
  void idle();
  /// What was violated first; empty: nothing.
  const std::string& violation() const { return violation_; }
  /// Accesses of which it has seen that they took effect in a cache.
  std::uint64_t accesses() const { return accesses_; }

 private:
  struct Line {
    Version latest = 0;
    Version memory = 0;
    /// What caches have of it, by node, whether they still hold the line or not: others than its user may
    /// have asked for it ahead of a use that never comes.
    std::unordered_map<std::uint32_t, Version> copies;
    bool leaving = false;  // written back, and not in memory yet
    NodeId user;
    bool used = false;
  };

  bool plain(LineAddress line) const;
  const CacheAgent* cache_at(NodeId node) const;
  Line& line_of(LineAddress address, NodeId user);
  void came_to_memory(const Message& message);
  void comes_behind_write_back(const Line& line, const Message& message);
  void fail(LineAddress address, const std::string& what);

  const AddressMap& map_;
  CoherenceOracle& log_;
  std::unordered_map<std::uint32_t, const CacheAgent*> caches_;  // by node
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<const Message*, Version> carried_;
  std::uint64_t accesses_ = 0;
  std::string violation_;
};

}  // namespace cxloom::test

// Which pages of a program move between memories of different speed, and when: the interface of a tiering
// policy, as the part of a kernel's memory management that decides it. A kind is a file of its own and a line
// in `register_tiering`, or in the `CXLOOM_PLUGIN` of a plug-in. What each call costs the program is in
// kernel_costs.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "base/kind_registry.hpp"
#include "base/units.hpp"
#include "workload/placement/numa_nodes.hpp"

namespace cxloom {

class TieringPolicy;
struct TieringContext;
using TieringRegistry = KindRegistry<TieringPolicy, TieringContext>;

/// What a policy finds around itself when it is made.
struct TieringContext {
  std::span<const NumaNode> nodes;  ///< of the device, in the order of the address map; they outlive it
  Bytes page;
};

/// Throws InputError, with that key, for more bytes than these of the nodes hold in whole pages. It says of
/// the default that it is that, as nobody may have written it.
void refuse_above(const char* key, Bytes bytes, Bytes by_default, std::span<const NumaNode> nodes,
                  const TieringContext& context);

/// Throws InputError where all nodes are as near: no page has a nearer one to go to.
void refuse_equally_near(const TieringContext& context);

/// Where a policy learns of accesses. What it does not declare it does not get, and does not pay for.
struct TieringSources {
  bool hint_faults = false;        ///< it makes pages inaccessible, and hears of the next access to each
  bool accessed_bits = false;      ///< it reads and clears the bits that an access sets in the page table
  std::uint64_t sample_every = 0;  ///< it hears of one in so many accesses that memory answers; 0: of none
  /// It knows how often each page comes among so many of the next accesses, as no kernel does; 0: it does
  /// not.
  std::uint64_t foresees = 0;
  bool traffic = false;  ///< it reads what the counters of the memory controllers say
  Time period;           ///< it looks so often, first after one period; zero: never
};

/// An access that a policy hears of, by a hint fault or a sample.
struct PageAccess {
  std::uint64_t page = 0;
  std::size_t node = 0;      ///< where the page is
  std::uint32_t thread = 0;  ///< of the program
  bool write = false;
  Time latency;  ///< of a sample: from the request to its answer
};

/// The accesses that a node has answered so far, and the sum of their latencies.
struct NodeTraffic {
  std::uint64_t answered = 0;
  Time latency;
};

/// What a kernel knows of a program's pages, and what it can do with them. Pages have numbers from 0 on in
/// the order of their first touch; those of page tables have some too, but are never made inaccessible,
/// scanned, sampled or moved.
class TieredPages {
 public:
  virtual Time now() const = 0;
  /// Pages that were touched so far.
  virtual std::uint64_t pages() const = 0;
  virtual std::size_t node_of(std::uint64_t page) const = 0;
  /// It belongs to a page table, and stays where it is.
  virtual bool is_table(std::uint64_t page) const = 0;
  /// The program gave its area a policy of its own (set_mempolicy, mbind), as a placement on named nodes is.
  virtual bool is_explicit(std::uint64_t page) const = 0;
  /// Its first address in the program.
  virtual Address address_of(std::uint64_t page) const = 0;
  /// Frames of a node that pages can be moved to.
  virtual std::uint64_t free(std::size_t node) const = 0;
  virtual NodeTraffic traffic(std::size_t node) const = 0;
  /// Moves that were asked for and have not begun.
  virtual std::uint64_t moves_waiting() const = 0;
  /// Accesses to the page among those that it foresees.
  virtual std::uint64_t coming(std::uint64_t page) const = 0;

  /// The next access to the page faults. All that one call of the policy protects is one shoot-down. False:
  /// it does so already, or the page is being moved.
  virtual bool protect(std::uint64_t page) = 0;
  /// Whether the page was accessed since this was asked before.
  virtual bool accessed(std::uint64_t page) = 0;
  /// The page goes to a node, behind the moves that were asked for before; those of a fault come before all
  /// others. It stays where it is if the node has no free frame when its turn comes.
  virtual void move(std::uint64_t page, std::size_t node) = 0;
  /// In a look: the next one is at that time, and not when a period is over. Elsewhere: it is no later.
  virtual void look_at(Time time) = 0;

 protected:
  ~TieredPages() = default;
};

class TieringPolicy {
 public:
  virtual ~TieringPolicy() = default;

  /// Asked once, before the run.
  virtual TieringSources sources() const = 0;
  /// A protected page was accessed, and is accessible again. The access goes on behind this; if the page is
  /// being moved then, behind the move.
  virtual void faulted(const PageAccess& /*access*/, TieredPages& /*pages*/) {}
  virtual void sampled(const PageAccess& /*access*/, TieredPages& /*pages*/) {}
  /// A period is over, or it asked to look now; and what it did in the last look is done.
  virtual void look(TieredPages& /*pages*/) {}
};

/// Adds the policies that come with cxloom.
void register_tiering(TieringRegistry& registry);

}  // namespace cxloom

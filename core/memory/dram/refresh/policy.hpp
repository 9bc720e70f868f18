// The interface of refresh policies: what a refresh of a rank takes, how often one is due, and which banks
// come next. A kind is a file of its own and a line in `register_refresh_policies`, or in the `CXLOOM_PLUGIN`
// of a plug-in.
//
// The policy decides, the refresher keeps the books (how many are owed, and that every set is refreshed once
// before any is twice), and the rest of the sub-channel closes rows, sends the commands and heeds the
// constraints between them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/parameters.hpp"
#include "memory/dram/device/device.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/queue.hpp"

namespace cxloom {

template <class Product, class Context>
class KindRegistry;

/// The surroundings of a refresh policy when it is made, for a look whenever it is called.
struct DramRefreshContext {
  const DramDevice& device;  ///< its organisation and its timing, in clocks
  const DramQueue& queue;    ///< by bank and direction the bursts that wait
  const DramTimers& timers;  ///< by bank its open row
};

class DramRefreshPolicy {
 public:
  virtual ~DramRefreshPolicy() = default;

  /// The time of one refresh: a rank for tRFC, or a set of its banks for tRFC_SB.
  virtual DramRefreshScope scope() const = 0;
  /// Clocks between two refreshes of a rank, on average; kNeverClock: it is never refreshed. Constant.
  virtual Clock interval() const = 0;

  /// Which set of a rank is refreshed next, of those that are `left` in this round, in ascending order. Set i
  /// consists of the banks i, i + n, ... of the rank, where it has n sets. While nothing else happens in any
  /// rank it is not asked: the first goes.
  virtual std::uint32_t next_set(std::uint32_t /*rank*/, std::span<const std::uint32_t> left) {
    return left.front();
  }
  /// Whether a refresh begins now although bursts wait for the rank; `owed` are due, more than
  /// `refresh_postpone` allows to put off. Asked whenever one falls due or has gone out; with no burst
  /// waiting it begins in any case.
  virtual bool urgent(std::uint32_t /*rank*/, std::uint32_t /*owed*/) { return true; }
};

using DramRefreshPolicyRegistry = KindRegistry<DramRefreshPolicy, DramRefreshContext>;

/// Registers the policies that come with cxloom.
void register_refresh_policies(DramRefreshPolicyRegistry& registry);

/// Throws InputError if the device has no such refreshes, or one is due before the last is over.
std::unique_ptr<DramRefreshPolicy> make_refresh_policy(const DramRefreshPolicyRegistry& kinds,
                                                       const KindSpec& kinded, DramRefreshContext context);

}  // namespace cxloom

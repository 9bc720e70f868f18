// The parameters of a region of the address map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

enum class InterleavePolicy : std::uint8_t {
  kCxl,       ///< HDM decoders: 1, 2, 3, 4, 6, 8, 12 or 16 ways, 256 B to 16 KiB
  kWeighted,  ///< any number of targets, each with a weight (as the operating system's weighted interleave)
  kCapacity,  ///< weights in proportion to the targets' capacities
};

/// The device that keeps caches coherent that hold lines of a region.
enum class Coherence : std::uint8_t {
  kNone,   ///< nobody: the lines are taken to be private to a requester
  kHdmDb,  ///< the device, by back-invalidate snoops (HDM-DB)
  kHdmH,   ///< a host, by snoops of CXL.cache: its own memory, or that of a device (HDM-H)
  kHdmD,   ///< the device, by bias: it asks the host by CXL.cache for lines that the host may have (HDM-D)
};

/// When a write to a region is durable: it survives the loss of power.
enum class Persistence : std::uint8_t {
  kVolatile,    ///< never
  kMedia,       ///< when the media have it
  kController,  ///< when the memory answers it: its buffers are flushed when power fails
};

/// How processors access a region: a memory type of x86.
enum class MemoryType : std::uint8_t {
  kWriteBack,       ///< lines are cached; a store changes the cached line
  kWriteThrough,    ///< lines are cached; a store goes to memory as well
  kUncacheable,     ///< nothing is cached; one access at a time, in order
  kWriteCombining,  ///< nothing is cached; stores are gathered by line in buffers
};

/// Which copy of a replicated region is read.
enum class ReplicaReads : std::uint8_t {
  kPrimary,  ///< the first that is whole, in the order of `to` and `on`
  kSpread,   ///< line by line another one that is whole
};

/// Further copies of a region: every write goes to all of them.
struct ReplicasParams {
  std::vector<std::string> on;
  std::optional<std::string> by_switch;
  ReplicaReads read = ReplicaReads::kPrimary;
  std::uint32_t entries = 64;
  std::optional<std::uint32_t> acknowledge;
  std::optional<Bandwidth> resync_rate;

  /// The hosts send the copies themselves.
  bool by_hosts() const { return !by_switch; }
  static void describe(Schema<ReplicasParams>& schema);
};

/// A range of addresses and the devices that share it.
struct RegionParams {
  std::vector<std::string> to;
  Bytes interleave{256};
  InterleavePolicy policy = InterleavePolicy::kCxl;
  std::vector<std::uint32_t> weights;
  std::optional<Bytes> size;
  std::optional<Address> base;
  Coherence coherence = Coherence::kNone;
  std::optional<std::string> home;
  Persistence persistence = Persistence::kVolatile;
  MemoryType type = MemoryType::kWriteBack;
  std::optional<std::uint32_t> ld;
  std::optional<ReplicasParams> replicas;

  static void describe(Schema<RegionParams>& schema);
};

}  // namespace cxloom

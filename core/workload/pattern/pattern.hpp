// Access patterns: sequential, strided, random, hot-cold, Zipf, pointer chase, log, objects, copy engines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/kind_registry.hpp"
#include "base/parameters.hpp"
#include "base/random.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/demand.hpp"
#include "workload/stream/persists.hpp"

namespace cxloom {

class AddressMap;
struct PatternContext;
using PatternRegistry = KindRegistry<AccessStream, PatternContext>;

/// What a pattern finds around itself when it is made.
struct PatternContext {
  std::uint64_t seed = 0;
  std::string name;                            ///< of the requester: its random streams are its own
  bool cached = false;                         ///< the requester has a cache
  const PatternRegistry* kinds = nullptr;      ///< for those that are made of others
  std::uint32_t queue = 64;                    ///< requests that the requester has in flight at most
  std::optional<std::uint64_t> accesses = {};  ///< all that it will be asked for, where that is known
  const AddressMap* map = nullptr;             ///< null: it is looked at without a system
  std::uint32_t member = 0;                    ///< which of the requesters that have such a pattern it is of
  std::uint32_t members = 1;                   ///< how many these are
  bool stores_in_cache = false;                ///< where all stores and atomic operations are made
  bool has_cores = false;                      ///< cores make the accesses
};

/// Above it an access of a pattern is given as its lines: a place in the queue of a requester stands for an
/// entry of a buffer, or a tag, which has no more than the largest payload of PCIe.
inline constexpr std::uint64_t kMostAtOnce = 4096;
inline constexpr std::uint64_t kMostPatternBytes = std::uint64_t{1} << 20U;

/// How writes are made.
enum class Stores : std::uint8_t {
  kCached,       ///< in the cache, if there is one
  kNonTemporal,  ///< past the caches, by the combining buffers
};

/// What all patterns have in common.
struct PatternParams : PersistParams {
  double reads = 1.0;
  Stores stores = Stores::kCached;
  double atomics = 0.0;
  Bytes footprint{1ULL << 30U};
  Address base;
  Bytes size{64};
  std::optional<std::uint64_t> fence_every;

  /// Declares these in the schema of a pattern that derives from them.
  static void describe_in(Schema<PatternParams> schema);
  /// Declares fences and persists, too: for patterns that can have more than one access on its way.
  static void describe_fences(Schema<PatternParams> schema);
};

/// Draws an endless stream: the subclass says where, this class whether to read or write.
class Pattern : public AccessStream {
 public:
  Pattern(const PatternParams& params, const PatternContext& context);
  bool next(Access& access) final;
  std::optional<AddressRange> range() const final { return AddressRange{Address{base_}, blocks_ * size_}; }
  std::uint64_t left_at_least() const final { return kEndless; }
  bool may_store_past() const final { return past_; }
  std::uint64_t per_access() const final { return size_ > kMostAtOnce ? size_ / kLineBytes : 1; }

 protected:
  /// The next block, below `blocks()`.
  virtual std::uint64_t next_block() = 0;
  /// Places back of the access that the next one needs; 0: none.
  virtual std::uint32_t dependence() const { return 0; }

  /// Accesses of `size` bytes that the footprint has room for.
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t block_bytes() const { return size_; }
  /// All its accesses, each drawn from all blocks alike: what a kind changes for itself.
  DemandPart all_alike() const {
    return {.range = {Address{base_}, blocks_ * size_}, .block = size_, .reads = reads_ * (1.0 - atomics_)};
  }
  RandomStream& random() { return random_; }

 private:
  void draw(Access& access);
  bool next_of_any(Access& access);
  void next_line(Access& access);

  double reads_;
  double atomics_;
  bool past_;  // writes go past the caches
  std::uint64_t base_;
  std::uint64_t size_;
  std::uint64_t bytes_left_ = 0;  // of an access that is given as its lines
  Address line_;                  // the next of these
  AccessKind line_kind_ = AccessKind::kRead;
  std::uint64_t blocks_;
  std::uint64_t fence_every_;  // 0: never
  std::uint64_t to_fence_;     // accesses before the next
  Persists persists_;
  bool plain_;  // every access is a read or a write of one block, and nothing is to be told apart
  RandomStream random_;
  // Streams of their own: no share changes the addresses, and that of atomics changes no other access.
  RandomStream kinds_;
  RandomStream atomic_;
};

void register_patterns(PatternRegistry& registry);

}  // namespace cxloom

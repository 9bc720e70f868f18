// The interface of garbage collection in flash: which block is freed next. A kind is a file of its own and a
// line in `register_collectors`, or in the `CXLOOM_PLUGIN` of a plug-in.
//
// A collector only ranks the blocks of a plane. The plane moves the victim's current pages, and erases it.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace cxloom {

template <class Product, class Context>
class KindRegistry;

/// A block of a plane. Times are counted in pages that the plane has programmed.
struct FlashBlock {
  enum class State : std::uint8_t { kFree, kOpen, kFull };

  std::uint32_t current = 0;   ///< pages whose data nobody has overwritten
  std::uint32_t erases = 0;    ///< that it has borne
  std::uint64_t filled = 0;    ///< when its last page was programmed
  std::uint64_t modified = 0;  ///< when a page of it was last programmed, or overwritten elsewhere
  State state = State::kFree;
};

/// The surroundings of a collector when it is made.
struct GcContext {
  std::uint32_t pages;  ///< of a block
  RandomStream random;  ///< a stream of its own
};

class GcPolicy {
 public:
  virtual ~GcPolicy() = default;

  /// How much a full block deserves to be collected at `now`. That of the highest score is; of equals the
  /// least worn one, if wear is levelled, or the first.
  virtual double score(const FlashBlock& block, std::uint64_t now) = 0;
};

using GcPolicyRegistry = KindRegistry<GcPolicy, GcContext>;

/// Registers the policies that come with cxloom.
void register_collectors(GcPolicyRegistry& registry);

}  // namespace cxloom

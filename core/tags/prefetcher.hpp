// Which lines a cache asks for ahead of their use: the interface of a prefetcher. A kind is a file of its own
// and a line in `register_prefetchers`, or in the `CXLOOM_PLUGIN` of a plug-in.
//
// A prefetcher only predicts: the owner of the cache leaves out lines that are there
// already, that no region holds, or that there is no register for, and asks for the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

/// What every prefetcher has. The parameters of a kind derive from it, and declare it with
/// `describe_prefetcher` (prefetcher_schema.hpp).
struct PrefetcherParams {
  std::uint32_t registers = 16;
  Bytes page{4096};
};

/// What an access found, as far as prefetching goes.
enum class Found : std::uint8_t {
  kHit,       ///< its line, which somebody has used or asked for before
  kFirstUse,  ///< a line that was asked for ahead of its use, and has come or is on its way
  kMiss,      ///< nothing
};

/// An access as the cache sees it.
struct Trigger {
  LineAddress line;
  std::uint32_t thread;  ///< which made it, of the threads that the requester runs
  Found found;

  /// What the cache behind a perfect filter of hits would see.
  bool is_new() const { return found != Found::kHit; }
};

class Prefetcher {
 public:
  explicit Prefetcher(const PrefetcherParams& params) : params_(params) {}
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  virtual ~Prefetcher() = default;

  /// Adds to `wanted` the lines that should be asked for because of this access, the most urgent first.
  virtual void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) = 0;
  /// A line has come into the cache, asked for by an access or `ahead` of one.
  virtual void filled(LineAddress /*line*/, bool /*ahead*/) {}

  const PrefetcherParams& params() const { return params_; }
  /// So many lines are taken of an access's at most. What it adds beyond that is lost.
  void set_limit(std::size_t most) { limit_ = most; }
  std::size_t limit() const { return limit_; }
  /// Lines in a page.
  std::uint64_t lines_of_page() const { return params_.page.count() / kLineBytes; }

 private:
  PrefetcherParams params_;
  std::size_t limit_ = ~std::size_t{0};
};

/// What a prefetcher finds around itself when it is made: nothing so far.
struct PrefetcherContext {};

/// Registers the prefetchers that come with cxloom; `none` makes none.
void register_prefetchers(PrefetcherRegistry& registry);

}  // namespace cxloom

// A pattern as the prefetchers of a core see it: each of its reads misses the caches, unless its line was
// asked for ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "tags/core_prefetchers.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/latest_accesses.hpp"

namespace cxloom {

/// Gives the accesses of a pattern, whose footprint is taken to be far larger than the caches of the core.
/// The prefetchers of each level see its reads, of a line at most. A line that they want is a record behind
/// the read that led to it; a read of such a line is a use of it. Each thread has a core. The other accesses
/// are given as they are.
class PrefetchedStream final : public AccessStream {
 public:
  /// Lines of a thread that are remembered as asked for: each has its place by its address.
  static constexpr std::size_t kRemembered = 4096;
  /// Accesses of all threads that are remembered for those that need them: 64 each of 256 threads.
  static constexpr std::size_t kProducers = 16384;

  PrefetchedStream(std::unique_ptr<AccessStream> stream, CorePrefetch prefetch)
      : stream_(std::move(stream)), prefetch_(std::move(prefetch)), range_(stream_->range()) {}

  /// Whether there is a prefetcher. Throws InputError as CorePrefetchers does.
  static bool any(const CorePrefetch& prefetch) { return CorePrefetchers(prefetch, Bytes{kPage}).any(); }

  bool next(Access& access) override;
  void want(std::uint32_t thread) override { stream_->want(thread); }
  bool open() const override { return stream_->open(); }
  std::optional<AddressRange> range() const override { return range_; }
  std::optional<Value> pages_by_node() const override { return stream_->pages_by_node(); }
  MovablePages* movable_pages() override { return stream_->movable_pages(); }
  std::uint64_t left_at_least() const override { return stream_->left_at_least(); }
  bool repeats() const override { return pending_.empty() && stream_->repeats(); }

 private:
  struct Ahead {
    std::uint64_t line = kNone;
    std::uint64_t number = 0;  // of the record
  };
  struct CoreState {
    explicit CoreState(const CorePrefetch& prefetch)
        : prefetchers(prefetch, Bytes{kPage}), useful(prefetch.levels.size()), useless(useful) {}

    CorePrefetchers prefetchers;
    std::vector<Ahead> ahead = std::vector<Ahead>(kRemembered);
    std::vector<std::uint64_t> useful;  // by level
    std::vector<std::uint64_t> useless;
  };
  static constexpr std::uint64_t kPage = 4096;  // what is behind one may be anybody's
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  CoreState& core_of(std::uint32_t thread);
  bool use(CoreState& core, Access& access);
  void prefetch(CoreState& core, const Access& read, Found found);
  void ask(CoreState& core, const Access& read, LineAddress line);
  bool holds(LineAddress line) const;

  std::unique_ptr<AccessStream> stream_;
  CorePrefetch prefetch_;
  std::optional<AddressRange> range_;
  std::vector<std::unique_ptr<CoreState>> cores_;  // by thread
  std::deque<Access> pending_;                     // prefetches of the last access
  std::uint64_t number_ = 0;                       // of the next record
  LatestOf<kProducers> latest_;                    // records of the accesses of all threads
};

/// A stream as these prefetchers see it. One that wants answers is left alone.
std::unique_ptr<AccessStream> prefetched(std::unique_ptr<AccessStream> stream, CorePrefetch prefetch);

}  // namespace cxloom

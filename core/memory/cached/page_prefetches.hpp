// The pages that a cache of pages asks for ahead of their use: which ones, how many are on their way, and
// what became of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/parameters.hpp"
#include "base/zeroed_array.hpp"
#include "tags/cache_array.hpp"
#include "tags/prefetcher.hpp"

namespace cxloom {

struct MediaContext;

/// The counts of a cache of pages, with the pages that it asks for ahead of their use.
struct CachedMediaCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t joined = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t prefetches = 0;
  std::uint64_t useful = 0;
  std::uint64_t late = 0;
  std::uint64_t useless = 0;
  std::uint64_t dropped = 0;
};

class PagePrefetches {
 public:
  /// For a cache of `slots` pages before a medium of `pages_behind`.
  PagePrefetches(const KindSpec& kind, const MediaContext& context, std::uint64_t slots,
                 std::uint64_t pages_behind, CachedMediaCounts& counts);

  /// There is a prefetcher.
  bool on() const { return prefetcher_ != nullptr; }
  /// An access of a thread to a page, which is in `slot` or in none.
  Trigger trigger(LineAddress page, Slot slot, std::uint32_t thread) const;
  /// The existing pages that should be asked for because of it; valid until the next call.
  const std::vector<LineAddress>& wanted(const Trigger& trigger);

  /// The page in `slot` is accessed: if it was asked for ahead, it is used now, late if it is still `coming`.
  void accessed(Slot slot, bool coming) {
    if (!ahead_[slot]) return;
    ahead_[slot] = false;
    ++(coming ? counts_.late : counts_.useful);
  }
  /// One more page may be on its way.
  bool register_free() const { return on_their_way_ < prefetcher_->params().registers; }
  /// A page that was wanted is asked for, which takes a register, or dropped.
  void asked(bool asked);
  /// A page takes the place of the one in `slot`, asked for `ahead` of its use or by an access.
  void placed(Slot slot, bool ahead) {
    counts_.useless += ahead_[slot];
    ahead_[slot] = ahead;
  }
  /// It has come.
  void filled(LineAddress page, bool ahead);

 private:
  std::unique_ptr<Prefetcher> prefetcher_;  // null: none
  ZeroedArray<bool> ahead_;  // by slot: it was asked for ahead of its use, and nobody has used it yet
  std::vector<LineAddress> wanted_;
  std::uint64_t pages_behind_;      // there are no others
  std::uint32_t on_their_way_ = 0;  // pages that nobody has asked for
  CachedMediaCounts& counts_;
};

}  // namespace cxloom

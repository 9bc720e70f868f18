// The persists of a pattern: which of its accesses are made durable, and the fences between them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/random.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// What becomes of a line in the cache that is flushed.
enum class Flush : std::uint8_t {
  kDrop,  ///< it leaves (clflush)
  kKeep,  ///< it stays, clean (clwb)
};

struct PersistParams {
  double persists = 0.0;
  Flush flush = Flush::kDrop;
  std::optional<std::uint64_t> epoch;

  /// Declares these in the schema of a pattern that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("persists", &Params::persists)
        .fraction()
        .doc(
            "Share of persists among the accesses that are no atomic operations: a block is written and "
            "flushed, which makes it durable. A requester without a cache just flushes it. `reads` is of the "
            "others.");
    describe_flush(schema);
    schema.field("epoch", &Params::epoch)
        .min(1)
        .default_text("none: no fences of persists")
        .doc(
            "A fence after each so many persists: the access behind it is not issued until all before it are "
            "answered. Only with `persists`.");
    for (const char* const key : {"flush", "epoch"}) {
      schema.effective(key, [](const Params& params) { return params.persists > 0.0; }, "without persists");
    }
  }
  template <class Params>
  static void describe_flush(Schema<Params>& schema) {
    schema.choice("flush", &Params::flush, {{"drop", Flush::kDrop}, {"keep", Flush::kKeep}})
        .doc(
            "Whether a flush takes the line out of the cache (clflush) or leaves it there, clean (clwb). "
            "Only of persists (`persists`, or a log), and to leave it only with a cache.");
  }
};

/// Throws InputError for a flush that is to keep lines where there is no cache.
inline void check_flush(Flush flush, bool cached) {
  if (flush == Flush::kDrop || cached) return;
  throw InputError(
      {"a requester without a cache has no lines to keep", "flush: keep", "flush: drop, or a cache", {}},
      "flush");
}

/// The persists among the accesses that a pattern draws.
class Persists {
 public:
  /// Throws InputError for what has no effect. `cached`: the requester has a cache.
  Persists(const PersistParams& params, RandomStream random, bool cached)
      : share_(params.persists),
        keeps_(params.flush == Flush::kKeep),
        cached_(cached),
        epoch_(params.epoch.value_or(0)),
        to_fence_(epoch_),
        random_(random) {
    check_flush(params.flush, cached);
  }

  bool any() const { return share_ > 0.0; }
  /// The access before is to be flushed: gives that, and true.
  bool flush(Access& access) {
    if (!flush_follows_) return false;
    access = *flush_follows_;
    flush_follows_.reset();
    return true;
  }
  /// An access has been drawn: it may become one that persists, and one behind a fence.
  void draw(Access& access) {
    access.keeps = false;
    if (fence_follows_) access.dependence = kAllBefore;
    fence_follows_ = false;
    if (access.kind == AccessKind::kAtomic || !random_.chance(share_)) return;
    access.kind = AccessKind::kFlush;
    access.keeps = keeps_;
    access.past = false;
    if (cached_) {
      flush_follows_ = access;
      flush_follows_->dependence = 0;
      access.kind = AccessKind::kWrite;
    }
    if (epoch_ == 0 || --to_fence_ > 0) return;
    to_fence_ = epoch_;
    fence_follows_ = true;
  }

 private:
  double share_;
  bool keeps_;
  bool cached_;
  std::uint64_t epoch_;  // 0: no fences
  std::uint64_t to_fence_;
  bool fence_follows_ = false;
  std::optional<Access> flush_follows_;
  RandomStream random_;  // of its own, so that the share changes neither addresses nor kinds of the others
};

}  // namespace cxloom

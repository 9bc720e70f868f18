// An access of a thread on its way through a core.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "protocol/charged_segments.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

struct CoreAccess;

/// All of an access but what is known with its answer alone.
struct CoreAccessState {
  static constexpr Time kNever{-1};

  Access access;
  CoreAccess* next = nullptr;        ///< while it is free, or both wait for one access
  CoreAccess* dependents = nullptr;  ///< accesses that wait for its data
  CoreAccess* line = nullptr;        ///< of a use: the record that brings its line, if that is not answered
  CoreAccess* leads_to = nullptr;    ///< prefetches, until it has a fill buffer
  CoreAccess* behind = nullptr;      ///< the next of these, or of those uses
  CoreAccess* wanted_by = nullptr;   ///< uses of its line that came before it had `asked`
  std::uint64_t number = 0;          ///< in the workload, from 0
  std::uint64_t position = 0;        ///< instructions of its thread up to it
  std::uint32_t core = 0;
  std::uint32_t users = 0;       ///< it is given back when this is zero
  bool walk = false;             ///< waiting for it is waiting for a page walk
  bool has_walker = false;       ///< of a load of a page walk
  bool urgent = false;           ///< of a prefetch: an instruction wants its line already
  bool follows = false;          ///< of a prefetch: what leads to it has no fill buffer yet
  bool asked = false;            ///< it has its turn for a miss register, or had it
  bool asks = false;             ///< and it would be made otherwise
  bool has_register = false;     ///< it has one of the miss registers
  bool has_fill_buffer = false;  ///< and one of the fill buffers
  Time dispatched;               ///< it came into the window
  Time ready = kNever;           ///< its address was known then
  Time created = kNever;         ///< the request was made then
  Time done = kNever;            ///< the request was answered then

  bool answered() const { return done != kNever; }
  /// All before it in its thread is done first. The kernel is entered in good order, too.
  bool is_fence() const { return access.dependence == kAllBefore || access.enters_kernel(); }
  /// Later instructions come into the window when it is `ready`.
  bool is_branch() const { return access.role == AccessRole::kBranch; }
  bool is_write_back() const { return access.role == AccessRole::kWriteBack; }
  bool is_prefetch() const { return access.role == AccessRole::kPrefetch; }
  /// No access: its data, or its place, come with another's line.
  bool is_use() const { return access.role == AccessRole::kUse; }
  /// No instruction waits for it.
  bool in_background() const { return is_write_back() || is_prefetch(); }
  /// Later instructions retire only when it is answered.
  bool holds_window() const {
    return access.is_page_walk() || ((access.role == AccessRole::kDemand || is_use()) && !is_store());
  }
  /// It waits in the store buffer, as a flush does.
  bool is_store() const {
    return access.role == AccessRole::kStoreFill || (is_use() && access.kind == AccessKind::kWrite) ||
           (access.role == AccessRole::kDemand &&
            (access.kind == AccessKind::kWrite || access.kind == AccessKind::kFlush));
  }
};

struct CoreAccess : CoreAccessState {
  ChargedSegments segments;  ///< of the request, once it is answered

  /// It waits for that one alone, and is there when that is.
  void take_times_of(const CoreAccess& by) {
    ready = by.ready;
    created = by.created;
    done = by.done;
    segments = by.segments;
    walk = by.walk;
  }
  /// For its pool.
  void renew() {
    static_cast<CoreAccessState&>(*this) = {};
    segments.clear();
  }
};

}  // namespace cxloom

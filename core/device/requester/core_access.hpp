// An access of a thread on its way through a core.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

struct CoreAccess {
  static constexpr Time kNever{-1};

  Access access;
  CoreAccess* next = nullptr;        ///< while it is free, or both wait for one access
  CoreAccess* dependents = nullptr;  ///< accesses that wait for its data
  std::uint64_t number = 0;          ///< in the workload, from 0
  std::uint64_t position = 0;        ///< instructions of its thread up to it
  std::uint32_t core = 0;
  std::uint8_t users = 0;                      ///< it is given back when this is zero
  bool walk = false;                           ///< waiting for it is waiting for a page walk
  bool has_walker = false;                     ///< of a load of a page walk
  Time dispatched;                             ///< it came into the window
  Time ready = kNever;                         ///< its address was known then
  Time created = kNever;                       ///< the request was made then
  Time done = kNever;                          ///< the request was answered then
  std::array<Time, kSegmentCount> segments{};  ///< of the request, once it is answered

  bool answered() const { return done != kNever; }
  /// All before it in its thread is done first. The kernel is entered in good order, too.
  bool is_fence() const { return access.dependence == kAllBefore || access.enters_kernel(); }
  /// Later instructions come into the window when it is `ready`.
  bool is_branch() const { return access.role == AccessRole::kBranch; }
  bool is_write_back() const { return access.role == AccessRole::kWriteBack; }
  /// Later instructions retire only when it is answered.
  bool holds_window() const {
    return access.is_page_walk() || (access.role == AccessRole::kDemand && !is_store());
  }
  /// It waits in the store buffer, as a flush does.
  bool is_store() const {
    return access.role == AccessRole::kStoreFill ||
           (access.role == AccessRole::kDemand &&
            (access.kind == AccessKind::kWrite || access.kind == AccessKind::kFlush));
  }
};

}  // namespace cxloom

// What a requester does: a stream of memory accesses, from a pattern, a trace or an external feed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// A fence, as a dependence: on every access before.
inline constexpr std::uint32_t kAllBefore = ~std::uint32_t{0};

/// Bytes of an atomic operation whose size is not given.
inline constexpr std::uint16_t kAtomicBytes = 8;

/// The part of a core that waits for an access.
enum class AccessRole : std::uint8_t {
  kDemand,     ///< its instruction: a load for the data, a store for its place in the store buffer
  kStoreFill,  ///< a store, of which this is the read of the line; for the program it is a store
  kWriteBack,  ///< nobody: a dirty line leaves a cache
  // The others are no accesses.
  kCall,      ///< the thread makes the system call whose number stands for the address
  kGoOn,      ///< the thread goes on behind that system call, of another or of its own
  kWait,      ///< a call as well, or 0 if it is none: the thread does nothing until it goes on
  kBranch,    ///< what follows, which was predicted wrongly or has no place for a store, waits for that
  kProgress,  ///< the thread has come so far
  // This is one again.
  kPageWalk,  ///< its instruction: the place of a page is read from the page table
  kPrefetch,  ///< nobody: a prefetcher of its core asks for the line ahead of its use
  // And this is none.
  kUse,  ///< its instruction, for the line of the record that it depends on: a read for the data, a write for
         ///< its place in the store buffer
};
inline constexpr std::uint8_t kAccessRoles = static_cast<std::uint8_t>(AccessRole::kUse) + 1;

/// Whether an access of this kind may have the role: the read of a line for a store reads, a write-back
/// writes.
constexpr bool may_be(AccessRole role, AccessKind kind) {
  return role == AccessRole::kDemand || (role == AccessRole::kUse && kind == AccessKind::kWrite) ||
         kind == (role == AccessRole::kWriteBack ? AccessKind::kWrite : AccessKind::kRead);
}

/// The process that the kernel of a machine counts as, and the first and the last of the others.
inline constexpr std::uint16_t kKernelProcess = 1;
inline constexpr std::uint16_t kFirstProcess = 2;
inline constexpr std::uint16_t kLastProcess = 4095;

struct Access {
  Address address;
  Time timestamp;                     ///< when it becomes ready, from the start of the stream; see `timed`
  std::uint32_t instruction_gap = 0;  ///< instructions since the access before it
  std::uint32_t dependence = 0;  ///< it needs the access this many places before it; 0: none; or kAllBefore
  std::uint32_t thread = 0;
  std::uint16_t size = 64;  ///< bytes
  AccessKind kind = AccessKind::kRead;
  AccessRole role = AccessRole::kDemand;
  bool timed : 1 = false;  ///< `timestamp` is given
  bool keeps : 1 = false;  ///< of a flush: the line stays in the cache (clwb); otherwise it leaves (clflush)
  /// A flush brings data: caches in front had the line dirty.
  bool brings : 1 = false;
  /// A write goes past the caches (a non-temporal store), by the buffers that combine such writes.
  bool past : 1 = false;
  /// A line of an access that is given as its lines: the next of its thread goes on with it.
  bool continues : 1 = false;
  /// The process of a machine that it is of, up to kLastProcess; 0: not told. No trace has it.
  std::uint16_t process : 12 = 0;
  /// Cycles from the data of the access that it needs to its own address; if it needs none, from when its
  /// core comes to it.
  std::uint16_t dependence_cycles = 0;
  /// Cycles of its core since the access of its thread before it, where nothing waits for memory; 0: not
  /// given.
  std::uint32_t cycles = 0;

  /// Lines that it touches.
  std::uint16_t lines() const {
    const std::uint64_t reach = address.value() % kLineBytes + std::max<std::uint64_t>(size, 1);
    return static_cast<std::uint16_t>((reach + kLineBytes - 1) / kLineBytes);
  }
  bool is_page_walk() const { return role == AccessRole::kPageWalk; }
  bool reaches_memory() const {
    return role < AccessRole::kCall || is_page_walk() || role == AccessRole::kPrefetch;
  }
  bool is_call() const { return role == AccessRole::kCall || role == AccessRole::kWait; }
  bool enters_kernel() const { return is_call() || role == AccessRole::kGoOn; }
};

/// Kinds of accesses in a trace: those of AccessKind in their order, a flush that keeps its line, both
/// flushes with the line's data, and a write past the caches.
inline constexpr std::uint8_t kTraceKinds = 8;
inline constexpr std::uint8_t kPastTraceKind = 7;
constexpr void set_trace_kind(Access& access, std::uint8_t kind) {
  constexpr auto kFlush = static_cast<std::uint8_t>(AccessKind::kFlush);
  access.past = kind == kPastTraceKind;
  if (access.past) kind = static_cast<std::uint8_t>(AccessKind::kWrite);
  const bool flush = kind >= kFlush;
  access.kind = flush ? AccessKind::kFlush : static_cast<AccessKind>(kind);
  access.keeps = flush && ((kind - kFlush) & 1) != 0;
  access.brings = flush && ((kind - kFlush) & 2) != 0;
}
constexpr std::uint8_t trace_kind(const Access& access) {
  const auto kind = static_cast<std::uint8_t>(access.kind);
  if (access.kind != AccessKind::kFlush) return access.past ? kPastTraceKind : kind;
  return static_cast<std::uint8_t>(kind + (access.keeps ? 1 : 0) + (access.brings ? 2 : 0));
}

struct AddressRange {
  Address base;
  std::uint64_t bytes = 0;
  std::string_view key = "base";  ///< the parameter that says where it begins
};

class MovablePages;
class ReactiveStream;
struct DemandPart;

class AccessStream {
 public:
  virtual ~AccessStream() = default;
  /// Gives the next access; false at the end of the stream, or if it is open and has none at the moment.
  virtual bool next(Access& access) = 0;
  /// What this thread does next is waited for: it is given first, as far as there is a choice.
  virtual void want(std::uint32_t /*thread*/) {}
  /// It may have more to give later.
  virtual bool open() const { return false; }
  /// What it gives comes from outside of the simulation.
  virtual bool from_outside() const { return false; }
  /// It wants `answered` to be called for each of its accesses.
  virtual bool wants_answers() const { return false; }
  /// The access of that number, from 0 in the order of `next`, is answered.
  virtual void answered(std::uint64_t /*number*/, const Request& /*request*/, Time /*now*/) {}
  /// The addresses that it stays in, where that is known beforehand.
  virtual std::optional<AddressRange> range() const { return std::nullopt; }
  /// The addresses that a stream stays in which may be in several places.
  virtual std::vector<AddressRange> ranges() const {
    const auto only = range();
    return only ? std::vector{*only} : std::vector<AddressRange>{};
  }
  /// Accesses that it gives for each one that its user counts: the lines of a large one.
  virtual std::uint64_t per_access() const { return 1; }
  /// What it gives depends on answers, and on the time; null: on neither.
  virtual ReactiveStream* reactive() { return nullptr; }
  /// Adds how its accesses are spread over addresses (demand.hpp), for who counts them by page and draws
  /// none; false: it does not say.
  virtual bool add_demand(std::vector<DemandPart>& /*parts*/) const { return false; }
  /// How many of its pages are in each memory, by the memory's name; nothing where no pages are placed.
  virtual std::optional<Value> pages_by_node() const { return std::nullopt; }
  /// Its pages, if they can be put elsewhere while it runs; null: they stay where they are.
  virtual MovablePages* movable_pages() { return nullptr; }
  /// All that it gives from here on it has given before, in the same order: looking at it is no use.
  virtual bool repeats() const { return false; }
  /// Accesses that are sure to come before it may end.
  virtual std::uint64_t left_at_least() const { return 0; }
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  /// Some of these may be stores that go past the caches.
  virtual bool may_store_past() const { return true; }
  /// How many accesses there are in all, where that is known beforehand.
  virtual std::optional<std::uint64_t> length() const { return std::nullopt; }
};

}  // namespace cxloom

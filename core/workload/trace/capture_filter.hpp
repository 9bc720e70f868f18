// From a program's loads and stores to the accesses that reach memory: pages, caches, and which part is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tags/cache_hierarchy.hpp"
#include "tags/core_prefetchers.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/trace/page_map.hpp"

namespace cxloom {

/// Fed the accesses of a program, gives the records of a trace: the accesses themselves if there are no
/// caches, otherwise the misses (reads of a line) and write-backs (writes of a line) of the last level, the
/// lines that prefetchers ask memory for, and their first uses. The instruction gap of a record counts from
/// the record of the same thread before it.
class CaptureFilter {
 public:
  /// With `first_touch` addresses are physical, pages getting frames in the order of their first touch,
  /// frames of `page`; else they are the program's own. Addresses of different processes differ in their
  /// upper 16 bits, which no record has. The first `skip` records are left out, and at most `limit` are
  /// given, of those that are accesses. Each thread has a core with caches of its own, as long as there are
  /// no more than `cores`; further threads share them.
  CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies, bool first_touch,
                std::uint64_t skip, std::uint64_t limit, std::uint32_t cores = 1,
                Bytes page = Bytes{kPageBytes}, CorePrefetch prefetch = {});
  CaptureFilter(const CaptureFilter&) = delete;
  CaptureFilter& operator=(const CaptureFilter&) = delete;

  /// A thread began so many instructions, before what it accesses next. They take so many cycles, if that is
  /// known.
  void begin_instructions(std::uint32_t thread, std::uint64_t count, std::uint64_t cycles = 0) {
    instructions_ += count;
    if (thread >= gaps_.size()) gaps_.resize(thread + 1);
    gaps_[thread].instructions += count;
    gaps_[thread].cycles += cycles;
  }
  class Core;
  /// The core of a thread: that with the fewest threads when it first asked, and of these the first.
  Core& core_of(std::uint32_t thread);
  /// Another thread may have its core.
  void thread_ends(std::uint32_t thread);

  /// What an access found.
  struct Delivery {
    /// The number of the record with which its data comes: its own, or that of the line that it finds in the
    /// caches; 0 if that is not in the trace, or long ago.
    std::uint64_t record = 0;
    std::size_t level = 0;      ///< of the caches, in which its line was; `levels()` if in none
    bool recorded = false;      ///< it waits for its line, and has a record that says so
    std::uint64_t arrives = 0;  ///< what `arrives` said of its line
  };

  /// Appends the records of an access, whose instruction gap counts as instructions that begin. `producer` is
  /// the number of the record, from 1, that it waits for; 0: none.
  Delivery access(Core& core, const Access& access, std::uint64_t producer, std::vector<Access>& records);
  Delivery access(const Access& access, std::uint64_t producer, std::vector<Access>& records) {
    return this->access(core_of(access.thread), access, producer, records);
  }
  /// Appends the flush of a line, from the caches of all cores: `access` is one of its bytes, and `producer`
  /// makes its address. It waits for the line to come, too, and takes its data along if they were dirty.
  void flush(Core& core, const Access& access, std::uint64_t producer, std::vector<Access>& records);
  /// The line of what was accessed last is in the first cache from that cycle of its thread on. Later
  /// accesses hear of it, as long as the line is remembered.
  void arrives(Core& core, Address address, std::uint64_t cycle);

  /// Appends a record that is no access, in its place among the others of its thread. Its dependence is kept
  /// if it is a fence.
  void note(const Access& record, std::uint64_t producer, std::vector<Access>& records) {
    if (record.thread >= gaps_.size()) gaps_.resize(record.thread + 1);
    give(record, producer, records);
  }

  /// What `access` does with one that finds its line in the first cache, where it was when it was accessed
  /// lately: most do, and need neither page nor set. False, and nothing done, if it takes more than that.
  bool hits(Core& core, Address address, std::uint32_t size, AccessKind kind, Delivery& delivery);

  /// While false, the caches fill but nothing is recorded or skipped.
  void set_recording(bool recording);
  bool recording() const { return recording_; }
  bool complete() const { return records_ >= limit_; }
  /// Accesses among the records that it gave.
  std::uint64_t records() const { return records_; }
  /// Instructions of all threads and pages touched: while recording, and in all.
  std::uint64_t instructions() const {
    return recorded(instructions_, at_start_.instructions, before_.instructions);
  }
  std::uint64_t instructions_in_all() const { return instructions_; }
  std::uint64_t pages() const { return pages_.frames(); }

  const VictimRegistry& policies() const { return policies_; }
  std::size_t levels() const { return levels_.size(); }
  /// What a level did while recording.
  CacheHierarchy::Counts counts(std::size_t level) const;

 private:
  struct Totals {
    std::uint64_t instructions = 0;
    std::vector<CacheHierarchy::Counts> counts;
  };
  /// The latest record of a line: what hits soon after waits for it as well.
  struct Fill {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t record = 0;
  };
  static constexpr std::size_t kFills = 4096;
  /// A line as the program has it, as the caches do, and its slot in the first one.
  struct Recent {
    std::uint64_t line = ~std::uint64_t{0};
    LineAddress cached;
    Slot slot = 0;
    std::uint64_t arrives = 0;
  };
  static constexpr std::size_t kRecent = 1024;

  CacheHierarchy::AccessedLine access_line(Core& core, LineAddress line, const Access& access,
                                           std::uint64_t producer, std::vector<Access>& records);
  auto record_with(Core& core, const Access& access, AccessRole reader, std::uint64_t producer,
                   std::vector<Access>& records);
  void use(Core& core, LineAddress line, const Access& access, std::vector<Access>& records);
  void prefetch(Core& core, std::size_t level, LineAddress line, Found found, const Access& access,
                std::uint64_t producer, std::vector<Access>& records);
  bool take_from_others(Core& core, LineAddress line, const Access& access, std::vector<Access>& records);
  CacheHierarchy::Counts sum(std::size_t level) const;
  std::uint64_t give(Access record, std::uint64_t producer, std::vector<Access>& records);
  std::uint64_t recorded(std::uint64_t now, std::uint64_t at_start, std::uint64_t before) const {
    return before + (recording_ ? now - at_start : 0);
  }
  void note_start();

  struct Gap {
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;
  };

  PageMap pages_;
  std::vector<CacheParams> levels_;
  const VictimRegistry& policies_;
  std::uint32_t most_cores_;
  Bytes page_;
  CorePrefetch prefetch_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<Core*> by_thread_;
  bool first_touch_;
  bool recording_ = true;
  std::uint64_t skip_;
  std::uint64_t limit_;
  std::uint64_t records_ = 0;
  std::uint64_t numbers_ = 0;  // of all that it gave, what is no access included
  std::uint64_t instructions_ = 0;
  Totals at_start_;        // of this time of recording
  Totals before_;          // what the earlier ones summed up to
  std::vector<Gap> gaps_;  // by thread, since its last record
};

/// The caches of a core, and what it accessed lately.
class CaptureFilter::Core {
 public:
  Core(const std::vector<CacheParams>& levels, const VictimRegistry& policies, const CorePrefetch& prefetch,
       Bytes page)
      : prefetchers_(prefetch, page) {
    if (!levels.empty()) caches_.emplace(levels, policies);
  }

 private:
  friend class CaptureFilter;

  /// The latest record of a line.
  std::uint64_t delivered_by(LineAddress line) const {
    const Fill& fill = fills_[line.number() % kFills];
    return fill.line == line.number() ? fill.record : 0;
  }

  std::uint32_t threads_ = 0;
  std::optional<CacheHierarchy> caches_;
  CorePrefetchers prefetchers_;
  std::vector<Fill> fills_ = std::vector<Fill>(kFills);
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
};

[[gnu::always_inline]] inline bool CaptureFilter::hits(Core& core, Address address, std::uint32_t size,
                                                       AccessKind kind, Delivery& delivery) {
  const std::uint64_t first = address.value() / kLineBytes;
  const Recent& recent = core.recent_[first % kRecent];
  if (recent.line != first || (address.value() + size - 1) / kLineBytes != first || complete()) return false;
  // Others may have the line, too.
  if (kind == AccessKind::kWrite && cores_.size() > 1 && !core.caches_->is_dirty(recent.slot)) return false;
  if (!core.caches_->access_again(recent.cached, kind, recent.slot)) return false;
  delivery = {.record = core.delivered_by(recent.cached), .arrives = recent.arrives};
  return true;
}

}  // namespace cxloom

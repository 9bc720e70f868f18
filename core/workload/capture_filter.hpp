// From a program's loads and stores to the accesses that reach memory: pages, caches, and which part is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tags/cache_hierarchy.hpp"
#include "workload/access_stream.hpp"
#include "workload/page_map.hpp"

namespace cxloom {

/// Fed the accesses of a program, gives the records of a trace: the accesses themselves if there are no caches, otherwise the
/// misses (reads of a line) and write-backs (writes of a line) of the last level. The instruction gap of a record counts
/// from the record of the same thread before it.
class CaptureFilter {
 public:
  /// With `first_touch` addresses are physical, pages getting frames in the order of their first touch; else they are
  /// the program's own. Addresses of different processes differ in their upper 16 bits, which no record has. The first
  /// `skip` records are left out, and at most `limit` are given.
  CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies, bool first_touch,
                std::uint64_t skip, std::uint64_t limit);
  CaptureFilter(const CaptureFilter&) = delete;
  CaptureFilter& operator=(const CaptureFilter&) = delete;

  /// A thread began so many instructions, before what it accesses next. They take so many cycles, if that is known.
  void begin_instructions(std::uint32_t thread, std::uint64_t count, std::uint64_t cycles = 0) {
    instructions_ += count;
    if (thread >= gaps_.size()) gaps_.resize(thread + 1);
    gaps_[thread].instructions += count;
    gaps_[thread].cycles += cycles;
  }
  /// Appends the records of an access, whose instruction gap counts as instructions that begin. `producer` is the number of the
  /// record, from 1, that it waits for; 0: none. Gives the number of the record with which its data comes: its own, or that of the
  /// line that it finds in the caches; 0 if that is not in the trace, or long ago.
  std::uint64_t access(const Access& access, std::uint64_t producer, std::vector<Access>& records);

  /// Appends a record that is no access, in its place among the others of its thread.
  void note(const Access& record, std::vector<Access>& records) {
    if (record.thread >= gaps_.size()) gaps_.resize(record.thread + 1);
    give(record, 0, records);
  }

  /// What `access` does with one that finds its line in the first cache, where it was when it was accessed lately: most do, and
  /// need neither page nor set. False, and nothing done, if it cannot be told so quickly.
  bool hits(Address address, std::uint32_t size, AccessKind kind, std::uint64_t& delivered) {
    const std::uint64_t first = address.value() / kLineBytes;
    const Recent& recent = recent_[first % kRecent];
    if (recent.line != first || (address.value() + size - 1) / kLineBytes != first || complete() ||
        !caches_->access_again(recent.cached, kind, recent.slot)) {
      return false;
    }
    delivered = delivered_by(recent.cached);
    return true;
  }

  /// While false, the caches fill but nothing is recorded or skipped.
  void set_recording(bool recording);
  bool complete() const { return records_ >= limit_; }
  std::uint64_t records() const { return records_; }
  /// Instructions of all threads and pages touched: while recording, and in all.
  std::uint64_t instructions() const {
    return recorded(instructions_, at_start_.instructions, before_.instructions);
  }
  std::uint64_t instructions_in_all() const { return instructions_; }
  std::uint64_t pages() const { return pages_.frames(); }

  std::size_t levels() const { return caches_ ? caches_->levels() : 0; }
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
  };
  static constexpr std::size_t kRecent = 1024;

  Slot access_line(LineAddress line, const Access& access, std::uint64_t producer,
                   std::vector<Access>& records);
  /// The latest record of a line.
  std::uint64_t delivered_by(LineAddress line) const {
    const Fill& fill = fills_[line.number() % kFills];
    return fill.line == line.number() ? fill.record : 0;
  }
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
  std::optional<CacheHierarchy> caches_;
  std::vector<Fill> fills_ = std::vector<Fill>(kFills);
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
  bool first_touch_;
  bool recording_ = true;
  std::uint64_t skip_;
  std::uint64_t limit_;
  std::uint64_t records_ = 0;
  std::uint64_t instructions_ = 0;
  Totals at_start_;        // of this time of recording
  Totals before_;          // what the earlier ones summed up to
  std::vector<Gap> gaps_;  // by thread, since its last record
};

}  // namespace cxloom

// From a program's loads and stores to the accesses that reach memory: pages, caches, and which part is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tags/cache_hierarchy.hpp"
#include "workload/lackey_trace.hpp"
#include "workload/page_map.hpp"

namespace cxloom {

/// Fed the output of lackey, gives the records of a trace: the accesses themselves if there are no caches, otherwise the
/// misses (reads of a line) and write-backs (writes of a line) of the last level. The instruction gap of a record counts
/// from the record of the same thread before it.
class CaptureFilter {
 public:
  /// With `first_touch` addresses are physical, pages getting frames in the order of their first touch; else they are
  /// the program's own. The first `skip` records are left out, and at most `limit` are given.
  CaptureFilter(const std::vector<CacheParams>& levels, const VictimRegistry& policies, bool first_touch,
                std::uint64_t skip, std::uint64_t limit);
  CaptureFilter(const CaptureFilter&) = delete;
  CaptureFilter& operator=(const CaptureFilter&) = delete;

  /// Appends the records of the lines that the block completes.
  void feed(std::string_view block, std::vector<Access>& records);
  void finish() { parser_.finish(); }

  /// While false, the caches fill but nothing is recorded or skipped.
  void set_recording(bool recording) {
    recording_ = recording;
    note_start();
  }
  bool complete() const { return records_ >= limit_; }
  std::uint64_t records() const { return records_; }
  /// Instructions of all threads and pages touched: since the start of recording, and in all.
  std::uint64_t instructions() const { return instructions_ - at_start_.instructions; }
  std::uint64_t instructions_in_all() const { return instructions_; }
  std::uint64_t pages() const { return pages_.frames(); }

  std::size_t levels() const { return caches_ ? caches_->levels() : 0; }
  /// What a level did since the start of recording.
  CacheHierarchy::Counts counts(std::size_t level) const;

 private:
  struct Totals {
    std::uint64_t instructions = 0;
    std::vector<CacheHierarchy::Counts> counts;
  };

  void filter(const Access& access, std::vector<Access>& records);
  void give(Access record, std::vector<Access>& records);
  void note_start();

  LackeyParser parser_;
  PageMap pages_;
  std::optional<CacheHierarchy> caches_;
  bool first_touch_;
  bool recording_ = true;
  std::uint64_t skip_;
  std::uint64_t limit_;
  std::uint64_t records_ = 0;
  std::uint64_t instructions_ = 0;
  Totals at_start_;
  std::vector<std::uint32_t> gaps_;  // by thread: instructions since its last record
  std::vector<Access> accesses_;     // of the block at hand
};

}  // namespace cxloom

// The versions of the lines of persistent memory: each write has a number, so that data that are too old can be told from others.
// Hosts, persist buffers and memories carry the numbers; what must hold of them is known here, and to no part of the model.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/measure_table.hpp"
#include "base/units.hpp"
#include "protocol/message.hpp"

namespace cxloom {

struct VersionsMeasured {
  std::uint64_t stale_reads = 0;
  std::uint64_t lost_updates = 0;
};

inline constexpr std::array kVersionMeasures{
    measure<&VersionsMeasured::stale_reads>("stale_reads", "",
                                            "reads that got a version which was answered before another was "
                                            "written, and that one answered before "
                                            "the read was made"),
    measure<&VersionsMeasured::lost_updates>(
        "lost_updates", "",
        "writes to memory over a version that was written after this one had been answered"),
};

class LineVersions {
 public:
  /// A read or write of persistent memory leaves its requester. A write gets the next version of its line.
  void leaves(Message& message);
  /// It is answered, and the answer is with the requester.
  void returns(const Message& message);
  /// A write is in memory.
  void stored(const Message& message);
  /// What memory has of a line: 0 is what was there at first.
  std::uint32_t in_memory(LineAddress line) const;
  /// What is there of a line would be too old if it was read now: a write that was made later has been answered.
  bool too_old(LineAddress line, std::uint32_t version) const;

  /// Of the whole run.
  const VersionsMeasured& measured() const { return measured_; }
  /// Lines that were written, with what memory has of each.
  template <class Visit>
  void each_line(Visit visit) const {
    for (const auto& [number, line] : lines_) visit(LineAddress{number}, line.in_memory);
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Version {
    std::uint64_t written = 0;  // when, by the count of what has happened
    std::uint64_t answered = 0;
  };
  struct Line {
    std::vector<Version> versions{{}};
    std::uint32_t in_memory = 0;
    std::uint64_t answered_from = 0;  // when the latest of those that are answered was written
  };

  std::unordered_map<std::uint64_t, Line> lines_;            // by number; in no order that matters
  std::unordered_map<const Message*, std::uint64_t> reads_;  // under way: `answered_from` when each was made
  std::uint64_t happened_ = 0;
  VersionsMeasured measured_;
};

}  // namespace cxloom

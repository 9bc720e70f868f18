// The text form of a trace: one access per line. docs/trace-format.md has the whole of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/period.hpp"
#include "base/units.hpp"
#include "workload/stream/access_queue.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/trace/lines.hpp"

namespace cxloom {

/// The version that is written; it and earlier ones are read.
inline constexpr std::uint32_t kTraceVersion = 2;

enum class TraceColumn : std::uint8_t {
  kAddress,
  kKind,
  kTimestamp,
  kSize,
  kThread,
  kInstructionGap,
  kDependence,
  kRole,
  kCycles,
  kDependenceCycles
};
inline constexpr std::size_t kTraceColumns = 10;
/// The names of the columns, in the order of TraceColumn.
inline constexpr std::array<std::string_view, kTraceColumns> kTraceColumnNames = {
    "address",         "kind",       "timestamp", "size",   "thread",
    "instruction_gap", "dependence", "role",      "cycles", "dependence_cycles"};

/// Fed blocks of bytes, gives the accesses in them; memory use does not depend on the length of the trace,
/// nor on the size of an access: what is larger than an Access can be becomes its lines.
///
/// Without a header a line is `0xADDRESS R|W|A|F|K TICK`; a header in the first line names the columns,
/// `# cxloom-trace 2: address kind size thread`. Other lines that begin with '#' and empty ones are ignored.
class TextTraceParser {
 public:
  /// `tick` is the time that a timestamp of 1 means in a file without a header; with one it is always a
  /// picosecond.
  explicit TextTraceParser(const Period& tick = {}) : tick_(tick), most_ticks_(tick.most_steps()) {}

  /// Reads the lines that the block completes. Throws TraceError.
  void feed(std::string_view block);
  /// Tells that the input has ended: the last line need not end in a newline. Throws TraceError if there is
  /// no access.
  void finish();
  /// Appends some of the accesses that were read; nothing: all were taken.
  void take(std::vector<Access>& accesses) { accesses_.take(accesses); }

 private:
  void parse(std::string_view line);
  void parse_header(std::string_view line);
  void parse_column(TraceColumn column, std::string_view text, Access& access);
  void parse_timestamp(std::string_view text, Access& access);
  void check_atomic(Access& access) const;
  void check_role(const Access& access) const;
  void add(const Access& access);
  std::uint64_t parse_integer(TraceColumn column, std::string_view text, std::uint64_t least,
                              std::uint64_t most) const;
  [[noreturn]] void refuse(TraceColumn column, std::string_view text, std::string allowed) const;

  LineSplitter lines_;
  std::vector<TraceColumn> columns_ = {TraceColumn::kAddress, TraceColumn::kKind, TraceColumn::kTimestamp};
  Period tick_;
  std::uint64_t most_ticks_;      // whose time can be said
  std::uint64_t latest_ = 0;      // timestamp given last: they never decrease
  std::uint64_t large_ = 0;       // size of the access at hand, if it is more than an Access has
  bool has_large_ = false;        // there was one before: its lines are more accesses than the trace counts
  bool has_dependences_ = false;  // which count accesses
  AccessQueue accesses_;
};

/// The header line of a trace with all columns, newline included.
std::string text_trace_header();
/// Appends a line with all columns to the text.
void append_text(const Access& access, std::string& text);

}  // namespace cxloom

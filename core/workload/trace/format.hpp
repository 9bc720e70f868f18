// The forms of other tools' traces: how each is told by its content, what is missing in it, and its reader. A
// new form is a reader with its entry, in a file of its family, and the family's line in trace_format.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/period.hpp"
#include "workload/stream/access_queue.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/trace/words.hpp"

namespace cxloom {

/// What a trace does not say of itself.
struct TraceOptions {
  Period tick;                        ///< of its times
  std::vector<std::uint64_t> levels;  ///< how many of each there are in the DRAM that its coordinates are of
};

/// Reads a trace of one form from its beginning; keeps what lines leave for those behind them.
class FormatReader {
 public:
  virtual ~FormatReader() = default;
  /// Adds what a line stands for, if anything. Throws TraceError.
  virtual void read(const TraceWords& /*line*/, AccessQueue& /*accesses*/) {}
  /// Adds what a record of bytes stands for, in forms that have records.
  virtual void read_record(std::string_view /*record*/, AccessQueue& /*accesses*/) {}
  /// What it has changed so far that its user should know; usually nothing.
  virtual std::string remark() const { return {}; }
};

/// What the times of a trace count.
enum class TraceTimes : std::uint8_t {
  kNone,     ///< there are none
  kTicks,    ///< ticks, or cycles, whose length only the trace's maker knows
  kStandard  ///< what the form says
};

struct TraceFormat {
  std::string_view name;   ///< as a user writes it
  std::string_view about;  ///< whose traces they are, and which
  std::string_view line;   ///< what a line is
  TraceTimes times = TraceTimes::kNone;
  bool (*fits)(const TraceWords& line) = nullptr;
  std::unique_ptr<FormatReader> (*make)(const TraceOptions& options) = nullptr;
  bool levels = false;            ///< it has coordinates
  std::string_view suffix = {};   ///< of its files, where those of another form have the same lines
  bool commas = false;            ///< columns are separated by commas
  std::string_view comment = {};  ///< what the lines begin with that are none of the trace
  std::size_t record = 0;         ///< bytes of a record; 0: it has lines
  bool (*fits_record)(std::string_view record) = nullptr;
};

std::span<const TraceFormat> trace_formats();
/// Null: there is none of that name.
const TraceFormat* trace_format(std::string_view name);

/// The forms that a text can be of: those that its first line fits and, as long as any is left, the lines
/// behind it. Forms that mean the same by what is there count as one. `whole`: the last line is not cut off.
std::vector<const TraceFormat*> formats_of_text(std::string_view head, bool whole);
/// The forms that bytes can be of, each record of them; if of several, and they are `whole`, those of which
/// they are whole records.
std::vector<const TraceFormat*> formats_of_records(std::string_view head, bool whole);

// The families, each in the file of its name.
std::vector<TraceFormat> block_formats();
std::vector<TraceFormat> champsim_formats();
std::vector<TraceFormat> dinero_formats();
std::vector<TraceFormat> dramsim_formats();
std::vector<TraceFormat> dramsys_formats();
std::vector<TraceFormat> pinatrace_formats();
std::vector<TraceFormat> prospero_formats();
std::vector<TraceFormat> ramulator_formats();

/// An access of a trace without sizes: the line that the address is in, as the tool that the trace is for
/// takes it.
Access line_access(std::uint64_t address, AccessKind kind);

/// Gives accesses the times of a trace's ticks, which never decrease.
class TickClock {
 public:
  explicit TickClock(const Period& tick) : tick_(tick), most_(tick.most_steps()) {}
  void stamp(Access& access, const TraceWords& line, std::string_view what, std::string_view word);
  /// Stamps an access so many ticks after the one before.
  void stamp_later(Access& access, const TraceWords& line, std::string_view what, std::string_view word);

 private:
  Period tick_;
  std::uint64_t most_;  // whose time can be said
  std::uint64_t latest_ = 0;
};

}  // namespace cxloom

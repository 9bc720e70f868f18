// Reads the traces of other memory simulators: DRAMsim3 and Ramulator 2. docs/trace-format.md has their rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "workload/access_stream.hpp"
#include "workload/trace_lines.hpp"

namespace cxloom {

enum class ForeignForm : std::uint8_t {
  kDramsim3,            ///< `0x1f40 READ 12`: address, READ or WRITE, cycle
  kRamulatorLoadStore,  ///< `LD 0x1f40`, `ST 8000`
  kRamulatorReadWrite,  ///< `R 0,1,2,3,4,5`: the coordinates of a burst in the DRAM, channel first
  kRamulatorSimpleO3,  ///< `3 8000 8064`: instructions before a load, its address, that of a write-back it causes
};

/// The form that a line of text has, if it is one of these and can be no other.
std::optional<ForeignForm> foreign_form_of(std::string_view line);

/// Fed blocks of bytes, gives the accesses in them; memory use does not depend on the length of the trace.
/// An access is one line of 64 bytes: these formats have no sizes. Empty lines are ignored.
class ForeignTraceParser {
 public:
  /// `tick` is the length of a cycle of DRAMsim3. `levels` are the sizes of what Ramulator's coordinates number, channels
  /// first, columns (of 64 bytes) last; other forms have none. Throws InputError if they do not fit the form.
  explicit ForeignTraceParser(ForeignForm form, Time tick = Time{1}, std::vector<std::uint64_t> levels = {});

  /// Appends the accesses of the lines that the block completes. Throws TraceError.
  void feed(std::string_view block, std::vector<Access>& accesses);
  /// Tells that the input has ended: the last line need not end in a newline. Throws TraceError if there is no access.
  void finish(std::vector<Access>& accesses);

 private:
  void parse(std::string_view line, std::vector<Access>& accesses);
  void parse_timed(const std::vector<std::string_view>& words, Access& access);
  std::uint64_t address_of(std::string_view word) const;
  std::uint64_t address_at(std::string_view coordinates) const;
  std::uint64_t decimal(std::string_view what, std::string_view word, std::uint64_t most) const;
  [[noreturn]] void refuse(std::string problem, std::string_view text, std::string allowed) const;

  ForeignForm form_;
  Time tick_;
  std::vector<std::uint64_t> levels_;
  LineSplitter lines_;
  std::vector<std::string_view> words_;
  Time latest_;
  std::uint64_t accesses_ = 0;
};

}  // namespace cxloom

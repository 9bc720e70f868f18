// Reads the traces of other tools, whatever their form: docs/trace-format.md has their rules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/trace/format.hpp"
#include "workload/trace/lines.hpp"

namespace cxloom {

/// Fed blocks of bytes, gives the accesses in them; memory use does not depend on the length of the trace,
/// nor on the size of an access. Empty lines are ignored.
class ForeignTraceParser {
 public:
  /// Throws InputError if the options do not fit the form.
  explicit ForeignTraceParser(const TraceFormat& format, const TraceOptions& options = {});

  /// Reads the lines that the block completes. Throws TraceError, or InputError with the number of a record.
  void feed(std::string_view block);
  /// Tells that the input has ended: the last line need not end in a newline. Throws TraceError if there was
  /// no access.
  void finish();
  /// Appends some of the accesses that were read; nothing: all were taken.
  void take(std::vector<Access>& accesses) { accesses_.take(accesses); }
  /// What was changed so far that its user should know; usually nothing.
  std::string remark() const { return reader_->remark(); }

 private:
  void read(std::string_view line);
  void feed_records(std::string_view block);

  const TraceFormat* format_;
  std::unique_ptr<FormatReader> reader_;
  LineSplitter lines_;
  TraceWords words_;
  AccessQueue accesses_;
  std::string begun_;  // the start of a record whose end has not come yet
  std::uint64_t records_ = 0;
};

}  // namespace cxloom

#include "workload/trace/foreign.hpp"

#include <algorithm>

namespace cxloom {

ForeignTraceParser::ForeignTraceParser(const TraceFormat& format, const TraceOptions& options)
    : format_(&format) {
  if (!format.levels && !options.levels.empty()) {
    throw InputError({"levels of a trace that has addresses", {}, "levels with ramulator2-read-write", {}},
                     "levels");
  }
  reader_ = format.make(options);
}

void ForeignTraceParser::feed(std::string_view block) {
  if (format_->record > 0) return feed_records(block);
  lines_.feed(block, [&](std::string_view line) { read(line); });
}

void ForeignTraceParser::feed_records(std::string_view block) {
  const std::size_t size = format_->record;
  if (!begun_.empty()) {
    const std::size_t missing = std::min(size - begun_.size(), block.size());
    begun_ += block.substr(0, missing);
    block.remove_prefix(missing);
    if (begun_.size() < size) return;
    reader_->read_record(begun_, accesses_);
    begun_.clear();
    ++records_;
  }
  for (; block.size() >= size; block.remove_prefix(size), ++records_)
    reader_->read_record(block.substr(0, size), accesses_);
  begun_ = block;
}

void ForeignTraceParser::read(std::string_view line) {
  words_.assign(line, lines_.number(), format_->commas);
  if (line.find_first_not_of(" \t") != std::string_view::npos) reader_->read(words_, accesses_);
}

void ForeignTraceParser::finish() {
  if (!begun_.empty()) {
    throw InputError({"the trace is cut off within record " + std::to_string(records_),
                      counted(begun_.size(), "byte"),
                      std::string(format_->line),
                      {}});
  }
  if (const std::string_view rest = lines_.rest(); !rest.empty())
    read(rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest);
  if (accesses_.added() > 0) return;
  InputError::Detail nothing{"the trace has no accesses", {}, std::string(format_->line), {}};
  if (format_->record > 0) throw InputError(std::move(nothing));
  throw TraceError(std::move(nothing), lines_.number());
}

}  // namespace cxloom

#include "workload/trace/format.hpp"

#include <algorithm>
#include <array>

namespace cxloom {

namespace {

using Family = std::vector<TraceFormat> (*)();
// In the order in which a user reads them, and in which of forms that mean the same the first is named.
constexpr std::array<Family, 8> kFamilies{dramsim_formats,  ramulator_formats, dramsys_formats,
                                          champsim_formats, dinero_formats,    pinatrace_formats,
                                          prospero_formats, block_formats};

bool passes_over(const TraceFormat& format, std::string_view line) {
  return !format.comment.empty() && line.starts_with(format.comment);
}

// All forms left mean the same.
void keep_first_of_each_reader(std::vector<const TraceFormat*>& formats) {
  std::vector<const TraceFormat*> kept;
  for (const TraceFormat* format : formats) {
    if (std::ranges::none_of(kept, [&](const TraceFormat* other) { return other->make == format->make; }))
      kept.push_back(format);
  }
  formats = std::move(kept);
}

}  // namespace

std::span<const TraceFormat> trace_formats() {
  static const std::vector<TraceFormat> formats = [] {
    std::vector<TraceFormat> all;
    for (const Family family : kFamilies) {
      for (const TraceFormat& format : family()) all.push_back(format);
    }
    return all;
  }();
  return formats;
}

const TraceFormat* trace_format(std::string_view name) {
  const auto formats = trace_formats();
  const auto found = std::ranges::find(formats, name, &TraceFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

std::vector<const TraceFormat*> formats_of_text(std::string_view head, bool whole) {
  std::vector<const TraceFormat*> left;
  for (const TraceFormat& format : trace_formats()) {
    if (format.record == 0) left.push_back(&format);
  }
  TraceWords words;
  bool first = true;
  while (left.size() > (first ? 0U : 1U) && !head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !whole && !first) break;
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    std::vector<const TraceFormat*> fitting;
    bool says_something = false;
    for (const TraceFormat* format : left) {
      if (passes_over(*format, line)) {
        fitting.push_back(format);
        continue;
      }
      words.assign(line, 0, format->commas);
      if (!format->fits(words)) continue;
      says_something = true;
      fitting.push_back(format);
    }
    // A comment of one form is the first line of no other. What fits nothing is for the reader to refuse.
    if (fitting.empty() && !first) break;
    left = std::move(fitting);
    if (left.empty()) return left;
    if (says_something) first = false;
  }
  if (first) return {};
  keep_first_of_each_reader(left);
  return left;
}

std::vector<const TraceFormat*> formats_of_records(std::string_view head, bool whole) {
  std::vector<const TraceFormat*> fitting;
  for (const TraceFormat& format : trace_formats()) {
    if (format.record == 0 || head.size() < format.record) continue;
    bool fits = true;
    for (std::size_t at = 0; fits && at + format.record <= head.size(); at += format.record)
      fits = format.fits_record(head.substr(at, format.record));
    if (fits) fitting.push_back(&format);
  }
  std::vector<const TraceFormat*> dividing;
  for (const TraceFormat* format : fitting) {
    if (whole && head.size() % format->record == 0) dividing.push_back(format);
  }
  return dividing.empty() ? fitting : dividing;
}

Access line_access(std::uint64_t address, AccessKind kind) {
  Access access;
  access.address = Address{address - address % kLineBytes};
  access.kind = kind;
  return access;
}

void TickClock::stamp(Access& access, const TraceWords& line, std::string_view what, std::string_view word) {
  const std::uint64_t ticks = line.decimal(what, word, most_);
  if (ticks < latest_) {
    line.refuse("bad " + std::string(what), word, "no less than the one before, " + std::to_string(latest_));
  }
  latest_ = ticks;
  access.timestamp = *tick_.after(ticks);
  access.timed = true;
}

void TickClock::stamp_later(Access& access, const TraceWords& line, std::string_view what,
                            std::string_view word) {
  latest_ += line.decimal(what, word, most_ - latest_);
  access.timestamp = *tick_.after(latest_);
  access.timed = true;
}

}  // namespace cxloom

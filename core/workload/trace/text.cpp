#include "workload/trace/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace cxloom {

namespace {

constexpr std::string_view kHeader = "# cxloom-trace ";
constexpr std::string_view kNotGiven = "-";
constexpr std::string_view kFence = "all";       // of what an access depends on
constexpr std::string_view kKinds = "RWAFKGLN";  // in the order of the kinds of a trace
static_assert(kKinds.size() == kTraceKinds);
constexpr std::array<std::string_view, kAccessRoles> kRoles = {
    "demand", "store-fill", "write-back", "call",     "go-on", "wait",
    "branch", "progress",   "page-walk",  "prefetch", "use"};

std::string_view name_of(TraceColumn column) { return kTraceColumnNames[static_cast<std::size_t>(column)]; }

template <class T>
constexpr std::uint64_t largest() {
  return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

void append_number(std::uint64_t number, int base, std::string& text) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number, base);
  text.append(digits, end);
}

}  // namespace

void TextTraceParser::feed(std::string_view block) {
  lines_.feed(block, [&](std::string_view line) { parse(line); });
}

void TextTraceParser::finish() {
  const std::string_view rest = lines_.rest();
  if (!rest.empty()) parse(rest);
  if (accesses_.added() == 0) {
    throw TraceError({"the trace has no accesses", {}, "a line such as '0x1f40 R 0' for each", {}},
                     lines_.number());
  }
}

void TextTraceParser::parse(std::string_view line) {
  if (line.starts_with('#')) {
    if (lines_.number() == 1 && line.starts_with(kHeader)) parse_header(line.substr(kHeader.size()));
    return;
  }
  std::string_view rest = line;
  std::string_view word = take_word(rest);
  if (word.empty()) return;
  Access access;
  large_ = 0;
  std::size_t given = 0;
  for (; !word.empty(); word = take_word(rest), ++given) {
    if (given < columns_.size()) parse_column(columns_[given], word, access);
  }
  if (given != columns_.size()) {
    std::string names;
    for (const TraceColumn column : columns_) names.append(names.empty() ? "" : " ").append(name_of(column));
    throw TraceError({"a line of " + counted(given, "column"),
                      quoted(line),
                      counted(columns_.size(), "column") + ": " + names,
                      {}},
                     lines_.number());
  }
  if (access.kind == AccessKind::kAtomic) check_atomic(access);
  if (access.role != AccessRole::kDemand) check_role(access);
  add(access);
}

void TextTraceParser::add(const Access& access) {
  has_large_ = has_large_ || large_ > 0;
  has_dependences_ = has_dependences_ || (access.dependence != 0 && access.dependence != kAllBefore);
  if (has_large_ && has_dependences_) {
    refuse(TraceColumn::kDependence, std::to_string(access.dependence),
           "0 or all in a trace with a size above " + std::to_string(largest<std::uint16_t>()) +
               ", whose lines are accesses of their own");
  }
  if (large_ > 0) return accesses_.add_lines(access, large_);
  accesses_.add(access);
}

void TextTraceParser::parse_header(std::string_view line) {
  std::string_view rest = line;
  std::string_view version = take_word(rest);
  std::uint64_t number = 0;
  if (!version.ends_with(':') || !parse_number(version.substr(0, version.size() - 1), 10, number) ||
      number == 0 || number > kTraceVersion) {
    const std::string latest = std::to_string(kTraceVersion);
    throw TraceError({"a trace of an unknown version",
                      quoted(line),
                      "1 to " + latest + ", as in '# cxloom-trace " + latest + ": address kind'",
                      {}},
                     lines_.number());
  }
  columns_.clear();
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    const auto known = std::find(kTraceColumnNames.begin(), kTraceColumnNames.end(), word);
    const std::vector<std::string> names(kTraceColumnNames.begin(), kTraceColumnNames.end());
    if (known == kTraceColumnNames.end()) {
      throw TraceError(
          {"an unknown column", quoted(word), list_names(names), nearest_name(std::string(word), names)},
          lines_.number());
    }
    const auto column = static_cast<TraceColumn>(known - kTraceColumnNames.begin());
    if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) {
      throw TraceError({"a column that is named twice", quoted(word), "each column once", {}},
                       lines_.number());
    }
    columns_.push_back(column);
  }
  for (const TraceColumn column : {TraceColumn::kAddress, TraceColumn::kKind}) {
    if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) {
      throw TraceError({"a trace without the column '" + std::string(name_of(column)) + "'",
                        quoted(line),
                        "at least the columns address and kind",
                        {}},
                       lines_.number());
    }
  }
  tick_ = {};
  most_ticks_ = tick_.most_steps();
}

void TextTraceParser::parse_column(TraceColumn column, std::string_view text, Access& access) {
  switch (column) {
    case TraceColumn::kAddress: {
      std::uint64_t address = 0;
      if (!text.starts_with("0x") || !parse_number(text.substr(2), 16, address)) {
        refuse(column, text, "a hexadecimal number of up to 64 bits, such as 0x1f40");
      }
      access.address = Address{address};
      return;
    }
    case TraceColumn::kKind:
      if (text.size() != 1 || kKinds.find(text) == std::string_view::npos)
        refuse(column, text, "R, W, A, F, K, G, L or N");
      set_trace_kind(access, static_cast<std::uint8_t>(kKinds.find(text)));
      return;
    case TraceColumn::kTimestamp: parse_timestamp(text, access); return;
    case TraceColumn::kSize: {
      const std::uint64_t size = parse_integer(column, text, 1, AccessQueue::kMostBytes);
      if (size > largest<std::uint16_t>()) {
        large_ = size;
      } else {
        access.size = static_cast<std::uint16_t>(size);
      }
      return;
    }
    case TraceColumn::kThread:
      access.thread = static_cast<std::uint32_t>(parse_integer(column, text, 0, largest<std::uint32_t>()));
      return;
    case TraceColumn::kInstructionGap:
      access.instruction_gap =
          static_cast<std::uint32_t>(parse_integer(column, text, 0, largest<std::uint32_t>()));
      return;
    case TraceColumn::kDependence:
      access.dependence =
          text == kFence ? kAllBefore
                         : static_cast<std::uint32_t>(parse_integer(
                               column, text, 0, std::min<std::uint64_t>(accesses_.added(), kAllBefore - 1)));
      return;
    case TraceColumn::kRole: {
      const auto found = std::ranges::find(kRoles, text);
      if (found == kRoles.end()) refuse(column, text, list_names({kRoles.begin(), kRoles.end()}));
      access.role = static_cast<AccessRole>(found - kRoles.begin());
      return;
    }
    case TraceColumn::kCycles:
      access.cycles = static_cast<std::uint32_t>(parse_integer(column, text, 0, largest<std::uint32_t>()));
      return;
    case TraceColumn::kDependenceCycles:
      access.dependence_cycles =
          static_cast<std::uint16_t>(parse_integer(column, text, 0, largest<std::uint16_t>()));
      return;
  }
}

// The size of an atomic access may come after its kind.
void TextTraceParser::check_atomic(Access& access) const {
  if (std::find(columns_.begin(), columns_.end(), TraceColumn::kSize) == columns_.end())
    access.size = kAtomicBytes;
  if (large_ > 0 || !is_atomic_size(access.size))
    refuse(TraceColumn::kSize, std::to_string(large_ > 0 ? large_ : access.size),
           "4 or 8 bytes for an atomic operation");
  if (access.address.value() % access.size != 0) {
    refuse(TraceColumn::kAddress, to_text(access.address),
           "a multiple of the size of the atomic operation, " + std::to_string(access.size));
  }
}

void TextTraceParser::check_role(const Access& access) const {
  if (may_be(access.role, access.kind)) return;
  refuse(TraceColumn::kRole, kRoles[static_cast<std::size_t>(access.role)],
         access.role == AccessRole::kWriteBack ? "the kind W for a write-back" : "the kind R for this role");
}

void TextTraceParser::parse_timestamp(std::string_view text, Access& access) {
  if (text == kNotGiven) return;
  const std::uint64_t ticks = parse_integer(TraceColumn::kTimestamp, text, 0, most_ticks_);
  if (ticks < latest_)
    refuse(TraceColumn::kTimestamp, text, "no less than the one before, " + std::to_string(latest_));
  latest_ = ticks;
  access.timestamp = *tick_.after(ticks);
  access.timed = true;
}

std::uint64_t TextTraceParser::parse_integer(TraceColumn column, std::string_view text, std::uint64_t least,
                                             std::uint64_t most) const {
  std::uint64_t number = 0;
  if (!parse_number(text, 10, number) || number < least || number > most) {
    refuse(column, text,
           "an integer from " + std::to_string(least) + " to " + std::to_string(most) +
               (column == TraceColumn::kDependence ? ", or " + std::string(kFence) : std::string()));
  }
  return number;
}

void TextTraceParser::refuse(TraceColumn column, std::string_view text, std::string allowed) const {
  throw TraceError({"bad " + std::string(name_of(column)), quoted(text), std::move(allowed), {}},
                   lines_.number());
}

std::string text_trace_header() {
  std::string line(kHeader);
  line += std::to_string(kTraceVersion) + ":";
  for (const std::string_view name : kTraceColumnNames) line.append(" ").append(name);
  return line + "\n";
}

void append_text(const Access& access, std::string& text) {
  text += "0x";
  append_number(access.address.value(), 16, text);
  text += ' ';
  text += kKinds[trace_kind(access)];
  text += ' ';
  if (access.timed) {
    append_number(static_cast<std::uint64_t>(access.timestamp.ps()), 10, text);
  } else {
    text += kNotGiven;
  }
  const std::uint64_t rest[] = {access.size, access.thread, access.instruction_gap};
  for (const std::uint64_t number : rest) {
    text += ' ';
    append_number(number, 10, text);
  }
  text += ' ';
  if (access.dependence == kAllBefore) {
    text += kFence;
  } else {
    append_number(access.dependence, 10, text);
  }
  text.append(" ").append(kRoles[static_cast<std::size_t>(access.role)]).append(" ");
  append_number(access.cycles, 10, text);
  text += ' ';
  append_number(access.dependence_cycles, 10, text);
  text += '\n';
}

}  // namespace cxloom

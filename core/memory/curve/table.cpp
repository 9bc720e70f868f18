#include "memory/curve/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr std::uintmax_t kMaxFileBytes = 1U << 20U;  // 30,000 points; measured curves have some hundred

// Beyond these the time of an access, or between two at saturation, is no simulated time any more.
constexpr double kMostLatency = kNanosecondsPerSecond;  // ns
constexpr double kLeastPeak = 1e-6;                     // GB/s: a line in 64 ms

constexpr std::array<std::string_view, 3> kColumns{"reads", "bandwidth_gb_per_s", "latency_ns"};
enum Column : std::size_t { kReads, kBandwidth, kLatency };

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \r\"";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t end = line.find(separator);
    cells.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string shown(double value) { return Value(value).described(); }

std::string joined_columns() {
  return list_names(std::vector<std::string>(kColumns.begin(), kColumns.end()));
}

/// Something is wrong with a file, at a line or as a whole.
[[noreturn]] void refuse(const std::string& path, std::size_t line, InputError::Detail detail) {
  detail.problem = path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + detail.problem;
  throw InputError(std::move(detail), "file");
}

/// The meaning of each column of the file: which of the three it is.
std::vector<Column> read_header(const std::string& path, std::size_t line, std::string_view text,
                                char separator) {
  std::vector<Column> columns;
  for (const std::string_view name : cells_of(text, separator)) {
    const auto* const known = std::find(kColumns.begin(), kColumns.end(), name);
    if (known == kColumns.end()) {
      const std::vector<std::string> names(kColumns.begin(), kColumns.end());
      // Any file may be named here: its contents are not shown.
      refuse(path, line,
             {"column " + std::to_string(columns.size() + 1) + " is not one of a curve",
              {},
              "a header with " + joined_columns(),
              nearest_name(std::string(name), names)});
    }
    columns.push_back(static_cast<Column>(known - kColumns.begin()));
    if (std::count(columns.begin(), columns.end(), columns.back()) > 1) {
      refuse(path, line, {"a column twice", "'" + std::string(*known) + "'", {}, {}});
    }
  }
  for (const Column needed : {kBandwidth, kLatency}) {
    if (std::find(columns.begin(), columns.end(), needed) == columns.end()) {
      refuse(
          path, line,
          {"no column '" + std::string(kColumns[needed]) + "'", {}, "a header with " + joined_columns(), {}});
    }
  }
  return columns;
}

}  // namespace

void CurvePoint::describe(Schema<CurvePoint>& schema) {
  schema.doc("One measurement of a memory under load.");
  schema.field("reads", &CurvePoint::reads).fraction().doc("Share of reads in the traffic.");
  schema.field("bandwidth", &CurvePoint::bandwidth).required().doc("Bytes per second that were moved.");
  schema.field("latency", &CurvePoint::latency).required().doc("Mean latency of an access at this load.");
}

template <class Complain>
void CurveTable::build(const std::vector<Row>& rows, Complain complain) {
  for (const Row& row : rows) {
    if (!(row.reads >= 0.0 && row.reads <= 1.0)) {
      complain(row, {"not a share of reads", shown(row.reads), "from 0 to 1, or a percentage", {}});
    }
    if (!(row.bandwidth >= 0.0 && std::isfinite(row.bandwidth))) {
      complain(row, {"not a bandwidth of a curve",
                     shown(row.bandwidth) + " GB/s",
                     "zero or more, and not unlimited",
                     {}});
    }
    if (!(row.latency > 0.0 && row.latency <= kMostLatency))
      complain(row, {"not a latency", shown(row.latency) + " ns", "more than zero, at most a second", {}});
    auto curve =
        std::find_if(curves_.begin(), curves_.end(), [&](const Curve& c) { return c.reads == row.reads; });
    if (curve == curves_.end()) {
      curves_.push_back({row.reads, {row}});
      continue;
    }
    if (row.bandwidth <= curve->points.back().bandwidth) {
      complain(row, {"the bandwidth does not rise",
                     shown(row.bandwidth) + " after " + shown(curve->points.back().bandwidth) + " GB/s",
                     "points of rising bandwidth for each share of reads",
                     {}});
    }
    curve->points.push_back(row);
  }
  for (const Curve& curve : curves_) {
    if (curve.points.size() < 2) {
      complain(curve.points.front(),
               {"too few points", "one for a share of reads of " + shown(curve.reads), "at least two", {}});
    }
    const Row& last = curve.points.back();
    if (last.bandwidth < kLeastPeak) {
      complain(last, {"the largest bandwidth of a curve is too low",
                      shown(last.bandwidth) + " GB/s",
                      "at least " + shown(kLeastPeak) + " GB/s",
                      {}});
    }
  }
  std::sort(curves_.begin(), curves_.end(), [](const Curve& a, const Curve& b) { return a.reads < b.reads; });
}

CurveTable::CurveTable(const std::vector<CurvePoint>& points) {
  std::vector<Row> rows;
  for (const CurvePoint& point : points) {
    rows.push_back({point.reads, point.bandwidth.rate.per_second() / kNanosecondsPerSecond,
                    point.latency.ns(), rows.size()});
  }
  build(rows, [](const Row& row, InputError::Detail detail) {
    throw InputError(std::move(detail), "points[" + std::to_string(row.place) + "]");
  });
}

CurveTable CurveTable::from_file(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::exists(path, problem) && !std::filesystem::is_regular_file(path, problem))
    refuse(path, 0, {"not a file", {}, "a CSV or TSV file", {}});
  if (const std::uintmax_t size = std::filesystem::file_size(path, problem); !problem && size > kMaxFileBytes)
    refuse(
        path, 0,
        {"the table is too large", counted(size, "byte"), "at most " + counted(kMaxFileBytes, "byte"), {}});
  std::ifstream file(path);
  if (!file) refuse(path, 0, {"the table cannot be read", {}, "a CSV or TSV file", {}});
  std::vector<Row> rows;
  std::vector<Column> columns;
  char separator = ',';
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (constexpr std::string_view kMark = "\xef\xbb\xbf"; number == 1 && line.starts_with(kMark))
      line.erase(0, kMark.size());  // a spreadsheet's byte order mark
    const std::string_view text = std::string_view(line).substr(0, line.find('#'));
    if (trimmed(text).find_first_not_of(",\t") == std::string_view::npos) continue;
    if (columns.empty()) {
      separator = text.find('\t') == std::string_view::npos ? ',' : '\t';
      columns = read_header(path, number, text, separator);
      continue;
    }
    const std::vector<std::string_view> cells = cells_of(text, separator);
    if (cells.size() != columns.size()) {
      refuse(path, number,
             {"a row of another length than the header",
              counted(cells.size(), "cell"),
              counted(columns.size(), "cell"),
              {}});
    }
    std::array<double, 3> values{1.0, 0.0, 0.0};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string_view cell = cells[i];
      const bool percent = columns[i] == kReads && !cell.empty() && cell.back() == '%';
      if (percent) cell.remove_suffix(1);
      const std::optional<double> value = number_in(cell);
      if (!value) {
        refuse(path, number,
               {"column " + std::to_string(i + 1) + " is not a number",
                {},
                "a number for " + std::string(kColumns[columns[i]]),
                {}});
      }
      values[columns[i]] = percent ? *value / 100.0 : *value;
    }
    rows.push_back({values[kReads], values[kBandwidth], values[kLatency], number});
  }
  if (columns.empty()) refuse(path, 0, {"an empty table", {}, "a header with " + joined_columns(), {}});
  if (rows.empty()) refuse(path, 0, {"too few points", "none", "at least two", {}});
  CurveTable table;
  table.build(rows,
              [&](const Row& row, InputError::Detail detail) { refuse(path, row.place, std::move(detail)); });
  return table;
}

double CurveTable::Curve::latency(double bandwidth) const {
  const auto above = std::find_if(points.begin(), points.end(),
                                  [&](const Row& point) { return point.bandwidth >= bandwidth; });
  if (above == points.begin()) return above->latency;
  if (above == points.end()) return points.back().latency;
  const Row& below = *std::prev(above);
  const double way = (bandwidth - below.bandwidth) / (above->bandwidth - below.bandwidth);
  return below.latency + way * (above->latency - below.latency);
}

CurveTable::Between CurveTable::at(double reads) const {
  const auto above =
      std::find_if(curves_.begin(), curves_.end(), [&](const Curve& curve) { return curve.reads >= reads; });
  if (above == curves_.begin()) return {&*above, &*above, 0.0};
  if (above == curves_.end()) return {&curves_.back(), &curves_.back(), 0.0};
  const Curve& below = *std::prev(above);
  return {&below, &*above, (reads - below.reads) / (above->reads - below.reads)};
}

double CurveTable::capacity(double reads) const {
  const auto [low, high, weight] = at(reads);
  return low->capacity() + weight * (high->capacity() - low->capacity());
}

double CurveTable::latency(double reads, double load) const {
  const auto [low, high, weight] = at(reads);
  const double from = low->latency(load * low->capacity());
  return weight == 0.0 ? from : from + weight * (high->latency(load * high->capacity()) - from);
}

double CurveTable::least_latency() const {
  double least = curves_.front().points.front().latency;
  for (const Curve& curve : curves_) {
    for (const Row& point : curve.points) least = std::min(least, point.latency);
  }
  return least;
}

}  // namespace cxloom

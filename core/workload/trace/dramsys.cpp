// DRAMSys's traces: .stl, whose cycles count from the start, and .rstl, whose cycles count from the request
// before. Read as StlPlayer.cpp of github.com/tukl-msd/DRAMSys reads them, and as its configs/README.md
// describes them.
#include <limits>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

constexpr std::string_view kStlLine = "CYCLE: [(BYTES)] read|write 0xADDRESS [DATA]";
constexpr std::uint64_t kDefaultBytes = 64;  // DRAMSys takes the burst of its memory: that of most

bool is_command(std::string_view word) { return word == "read" || word == "write"; }
bool is_length(std::string_view word) { return word.starts_with('('); }

bool fits_stl(const TraceWords& line) {
  if (line.size() < 3 || !line[0].ends_with(':') || !is_decimal(line[0].substr(0, line[0].size() - 1)))
    return false;
  return is_command(line[1]) || (is_length(line[1]) && is_command(line[2]));
}

template <bool relative>
class StlReader final : public FormatReader {
 public:
  explicit StlReader(const TraceOptions& options) : clock_(options.tick) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    if (line[0].starts_with('#')) return;
    line.expect(3, 5, kStlLine);
    const std::size_t at = is_length(line[1]) ? 2 : 1;
    if (line.size() < at + 2) line.expect(at + 2, at + 3, kStlLine);
    if (!is_command(line[at])) line.refuse("bad command", line[at], "read or write");
    Access access;
    access.kind = line[at] == "read" ? AccessKind::kRead : AccessKind::kWrite;
    access.address = Address{line.hexadecimal(at + 1)};
    std::string_view cycle = line[0];
    if (cycle.ends_with(':')) cycle.remove_suffix(1);
    if constexpr (relative) {
      clock_.stamp_later(access, line, "cycle", cycle);
    } else {
      clock_.stamp(access, line, "cycle", cycle);
    }
    add(access, at == 2 ? bytes_in(line) : kDefaultBytes, accesses);
  }

 private:
  static std::uint64_t bytes_in(const TraceWords& line) {
    std::string_view length = line[1].substr(1);
    if (length.ends_with(')')) length.remove_suffix(1);
    return line.decimal("length", length, AccessQueue::kMostBytes);
  }

  static void add(Access& access, std::uint64_t bytes, AccessQueue& accesses) {
    if (bytes == 0) return;
    if (bytes > std::numeric_limits<std::uint16_t>::max()) return accesses.add_lines(access, bytes);
    access.size = static_cast<std::uint16_t>(bytes);
    accesses.add(access);
  }

  TickClock clock_;
};

template <bool relative>
std::unique_ptr<FormatReader> make_stl(const TraceOptions& options) {
  return std::make_unique<StlReader<relative>>(options);
}

}  // namespace

std::vector<TraceFormat> dramsys_formats() {
  return {{.name = "dramsys-stl",
           .about = "DRAMSys, cycles from the start (.stl)",
           .line = kStlLine,
           .times = TraceTimes::kTicks,
           .fits = fits_stl,
           .make = make_stl<false>,
           .suffix = ".stl",
           .comment = "#"},
          {.name = "dramsys-rstl",
           .about = "DRAMSys, cycles from the request before (.rstl)",
           .line = kStlLine,
           .times = TraceTimes::kTicks,
           .fits = fits_stl,
           .make = make_stl<true>,
           .suffix = ".rstl",
           .comment = "#"}};
}

}  // namespace cxloom

// Text traces of SST's Prospero: src/sst/elements/prospero/prostextreader.cc of
// github.com/sstsimulator/sst-elements.
#include <limits>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

constexpr std::string_view kProsperoLine = "CYCLE R|W ADDRESS BYTES";

bool is_read_letter(std::string_view word) { return word == "R" || word == "r"; }
bool is_write_letter(std::string_view word) { return word == "W" || word == "w"; }

bool fits_prospero(const TraceWords& line) {
  return line.size() == 4 && is_decimal(line[0]) && (is_read_letter(line[1]) || is_write_letter(line[1])) &&
         is_decimal(line[2]) && is_decimal(line[3]);
}

class ProsperoReader final : public FormatReader {
 public:
  explicit ProsperoReader(const TraceOptions& options) : clock_(options.tick) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(4, 4, kProsperoLine);
    if (!is_read_letter(line[1]) && !is_write_letter(line[1])) line.refuse("bad kind", line[1], "R or W");
    Access access;
    access.kind = is_read_letter(line[1]) ? AccessKind::kRead : AccessKind::kWrite;
    access.address = Address{line.decimal("address", 2)};
    clock_.stamp(access, line, "cycle", line[0]);
    const std::uint64_t bytes = line.decimal("size", 3, AccessQueue::kMostBytes);
    if (bytes == 0) line.refuse("bad size", line[3], "at least 1");
    if (bytes > std::numeric_limits<std::uint16_t>::max()) return accesses.add_lines(access, bytes);
    access.size = static_cast<std::uint16_t>(bytes);
    accesses.add(access);
  }

 private:
  TickClock clock_;
};

}  // namespace

std::vector<TraceFormat> prospero_formats() {
  return {{.name = "prospero",
           .about = "SST's Prospero, text",
           .line = kProsperoLine,
           .times = TraceTimes::kTicks,
           .fits = fits_prospero,
           .make = [](const TraceOptions& options) -> std::unique_ptr<FormatReader> {
             return std::make_unique<ProsperoReader>(options);
           }}};
}

}  // namespace cxloom

// Traces of Ramulator 1 and 2. Read as src/Processor.cpp of github.com/CMU-SAFARI/ramulator reads a DRAM
// trace, and the front ends LoadStoreTrace, ReadWriteTrace and SimpleO3 of github.com/CMU-SAFARI/ramulator2
// theirs.
#include <limits>
#include <utility>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

// --- Ramulator 1, --mode=dram

bool is_r_or_w(std::string_view word) { return word == "R" || word == "W"; }

bool fits_dram(const TraceWords& line) {
  return line.size() == 2 && is_marked_hexadecimal(line[0]) && is_r_or_w(line[1]);
}

constexpr std::string_view kDramLine = "0xADDRESS R|W";

class DramTraceReader final : public FormatReader {
 public:
  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(2, 2, kDramLine);
    if (!is_r_or_w(line[1])) line.refuse("bad kind", line[1], "R or W");
    accesses.add(line_access(line.hexadecimal(0), line[1] == "R" ? AccessKind::kRead : AccessKind::kWrite));
  }
};

// --- Ramulator 2, LoadStoreTrace

constexpr std::string_view kLoadStoreLine = "LD|ST ADDRESS";

bool is_load_or_store(std::string_view word) { return word == "LD" || word == "ST"; }

bool fits_load_store(const TraceWords& line) { return line.size() == 2 && is_load_or_store(line[0]); }

class LoadStoreReader final : public FormatReader {
 public:
  // Hexadecimal with 0x, decimal without.
  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(2, 2, kLoadStoreLine);
    if (!is_load_or_store(line[0])) line.refuse("bad kind", line[0], "LD or ST");
    std::uint64_t address = 0;
    const std::string_view digits = without_mark(line[1]);
    if (!parse_number(digits, digits.size() < line[1].size() ? 16 : 10, address))
      line.refuse("bad address", line[1], "an address of up to 64 bits, such as 0x1f40");
    accesses.add(line_access(address, line[0] == "LD" ? AccessKind::kRead : AccessKind::kWrite));
  }
};

// --- Ramulator 2, SimpleO3; Ramulator 1, --mode=cpu

constexpr std::string_view kSimpleO3Line = "INSTRUCTIONS LOAD_ADDRESS [WRITE_BACK_ADDRESS]";

bool fits_simple_o3(const TraceWords& line) {
  return (line.size() == 2 || line.size() == 3) && is_decimal(line[0]) && is_decimal(line[1]) &&
         (line.size() == 2 || is_decimal(line[2]));
}

class SimpleO3Reader final : public FormatReader {
 public:
  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(2, 3, kSimpleO3Line);
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t before = line.decimal("number of instructions", 0, kMost - 1);
    Access load = line_access(line.decimal("address", 1), AccessKind::kRead);
    load.instruction_gap = static_cast<std::uint32_t>(before + 1);  // the load is an instruction too
    accesses.add(load);
    if (line.size() == 3) accesses.add(line_access(line.decimal("address", 2), AccessKind::kWrite));
  }
};

// --- Ramulator 2, ReadWriteTrace

constexpr std::uint64_t kBurst = 64;
constexpr std::uint64_t kMostBursts = kBurst << 52U;  // of 64-bit addresses
constexpr std::string_view kReadWriteLine = "R|W CHANNEL,RANK,...,COLUMN";

bool fits_read_write(const TraceWords& line) {
  return line.size() == 2 && is_r_or_w(line[0]) && line[1].find(',') != std::string_view::npos;
}

class ReadWriteReader final : public FormatReader {
 public:
  explicit ReadWriteReader(const TraceOptions& options) : levels_(options.levels) {
    if (levels_.empty()) {
      throw InputError(
          {"the trace has coordinates in a DRAM, whose size only whoever made it knows",
           {},
           "the number of channels, ranks, bank groups, banks, rows and columns of 64 B, such as "
           "1,2,8,4,65536,128",
           {}},
          "levels");
    }
    std::uint64_t bursts = 1;
    for (const std::uint64_t size : levels_) {
      if (size == 0 || size > kMostBursts / bursts) {
        throw InputError({"a level of a size that cannot be",
                          std::to_string(size),
                          "at least 1, and 64-bit addresses in all",
                          {}},
                         "levels");
      }
      bursts *= size;
    }
  }

  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(2, 2, kReadWriteLine);
    if (!is_r_or_w(line[0])) line.refuse("bad kind", line[0], "R or W");
    accesses.add(line_access(address_at(line), line[0] == "R" ? AccessKind::kRead : AccessKind::kWrite));
  }

 private:
  // Coordinates number bursts of 64 bytes like digits of a number, the channel's the highest.
  std::uint64_t address_at(const TraceWords& line) const {
    std::uint64_t burst = 0;
    std::size_t level = 0;
    for (std::string_view rest = line[1];; ++level) {
      const std::size_t comma = rest.find(',');
      if (level < levels_.size()) {
        const std::uint64_t digit = line.decimal("coordinate", rest.substr(0, comma), levels_[level] - 1);
        burst = burst * levels_[level] + digit;
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (level + 1 != levels_.size()) {
      line.refuse(counted(level + 1, "coordinate"), line[1],
                  std::to_string(levels_.size()) + ", one for each of the levels");
    }
    return burst * kBurst;
  }

  std::vector<std::uint64_t> levels_;
};

template <class Reader>
std::unique_ptr<FormatReader> make_plain(const TraceOptions& /*options*/) {
  return std::make_unique<Reader>();
}

}  // namespace

std::vector<TraceFormat> ramulator_formats() {
  return {{.name = "ramulator-dram",
           .about = "Ramulator 1, for its mode dram",
           .line = kDramLine,
           .fits = fits_dram,
           .make = make_plain<DramTraceReader>},
          {.name = "ramulator2-load-store",
           .about = "Ramulator 2, LoadStoreTrace",
           .line = kLoadStoreLine,
           .fits = fits_load_store,
           .make = make_plain<LoadStoreReader>},
          {.name = "ramulator2-read-write",
           .about = "Ramulator 2, ReadWriteTrace",
           .line = kReadWriteLine,
           .fits = fits_read_write,
           .make = [](const TraceOptions& options) -> std::unique_ptr<FormatReader> {
             return std::make_unique<ReadWriteReader>(options);
           },
           .levels = true},
          {.name = "ramulator2-simple-o3",
           .about = "Ramulator 2, SimpleO3, or Ramulator 1, for its mode cpu",
           .line = kSimpleO3Line,
           .fits = fits_simple_o3,
           .make = make_plain<SimpleO3Reader>}};
}

}  // namespace cxloom

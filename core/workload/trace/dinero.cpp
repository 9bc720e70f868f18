// Dinero IV's traces: the traditional din format and the extended one.
// Read as dinfmt.c and xdinfmt.c of Dinero IV read them; d4.1, its manual page, says what the labels are.
#include <limits>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

constexpr std::string_view kDinLine = "LABEL(0-5) HEXADECIMAL_ADDRESS";
constexpr std::string_view kXdinLine = "LABEL(r|w|i|m|c|v) HEXADECIMAL_ADDRESS HEXADECIMAL_SIZE";
constexpr std::string_view kLabels =
    "rwimcv";  // read, write, instruction, miscellaneous, copy back, invalidate
constexpr std::uint64_t kDinBytes = 4;

bool fits_din(const TraceWords& line) {
  return line.size() == 2 && line[0].size() == 1 && line[0][0] >= '0' && line[0][0] <= '5' &&
         is_hexadecimal(line[1]);
}

bool fits_xdin(const TraceWords& line) {
  return line.size() >= 3 && line[0].size() == 1 && kLabels.find(line[0][0]) != std::string_view::npos &&
         is_hexadecimal(line[1]) && is_hexadecimal(line[2]);
}

class DineroReader : public FormatReader {
 protected:
  /// `label` is its place among the labels.
  void add(std::size_t label, std::uint64_t address, std::uint64_t bytes, AccessQueue& accesses) {
    constexpr std::size_t kInstructionFetch = 2;
    constexpr std::size_t kCopyBack = 4;
    constexpr std::size_t kInvalidate = 5;
    if (label == kInstructionFetch) {
      gap_ += gap_ != std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
      return;
    }
    if (label == kInvalidate || bytes == 0) return;
    Access access;
    access.address = Address{address};
    access.instruction_gap = gap_;
    gap_ = 0;
    access.kind = label == 1 ? AccessKind::kWrite : AccessKind::kRead;
    if (label == kCopyBack) {
      access.kind = AccessKind::kFlush;
      access.keeps = true;
    }
    if (bytes > std::numeric_limits<std::uint16_t>::max()) return accesses.add_lines(access, bytes);
    access.size = static_cast<std::uint16_t>(bytes);
    accesses.add(access);
  }

 private:
  std::uint32_t gap_ = 0;  // instructions since the access before
};

class DinReader final : public DineroReader {
 public:
  // What follows the first two words is ignored, and so is where in its word of four bytes an address lies.
  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(2, TraceWords::kLargest, kDinLine);
    const std::string_view label = without_mark(line[0]);
    if (label.size() != 1 || label[0] < '0' || label[0] > '5') {
      line.refuse("bad label", line[0],
                  "0 read, 1 write, 2 instruction, 3 miscellaneous, 4 copy back or 5 invalidate");
    }
    add(static_cast<std::size_t>(label[0] - '0'), line.hexadecimal(1) / kDinBytes * kDinBytes, kDinBytes,
        accesses);
  }
};

class XdinReader final : public DineroReader {
 public:
  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(3, TraceWords::kLargest, kXdinLine);
    const std::size_t label = line[0].size() == 1 ? kLabels.find(line[0][0]) : std::string_view::npos;
    if (label == std::string_view::npos) {
      line.refuse("bad label", line[0],
                  "r read, w write, i instruction, m miscellaneous, c copy back or v invalidate");
    }
    const std::uint64_t bytes = line.hexadecimal(2);
    if (bytes > AccessQueue::kMostBytes) line.refuse("bad size", line[2], "at most 1 GiB, 0x40000000");
    add(label, line.hexadecimal(1), bytes, accesses);
  }
};

}  // namespace

std::vector<TraceFormat> dinero_formats() {
  return {{.name = "dinero",
           .about = "Dinero, the din format",
           .line = kDinLine,
           .fits = fits_din,
           .make = [](const TraceOptions&) -> std::unique_ptr<FormatReader> {
             return std::make_unique<DinReader>();
           }},
          {.name = "dinero-extended",
           .about = "Dinero IV, the extended din format",
           .line = kXdinLine,
           .fits = fits_xdin,
           .make = [](const TraceOptions&) -> std::unique_ptr<FormatReader> {
             return std::make_unique<XdinReader>();
           }}};
}

}  // namespace cxloom

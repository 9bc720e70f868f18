// What Pin's example tool pinatrace writes: source/tools/ManualExamples/pinatrace.cpp of Intel's Pin.
#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

constexpr std::string_view kPinLine = "0xINSTRUCTION: R|W 0xADDRESS";
constexpr std::string_view kNull = "(nil)";  // as a pointer of zero is printed

bool is_pointer(std::string_view word) { return word == kNull || is_marked_hexadecimal(word); }

bool is_instruction(std::string_view word) {
  return word.ends_with(':') && is_pointer(word.substr(0, word.size() - 1));
}

bool fits_pinatrace(const TraceWords& line) {
  return line.size() == 3 && is_instruction(line[0]) && (line[1] == "R" || line[1] == "W") &&
         is_pointer(line[2]);
}

/// Its accesses have no sizes, and instructions that access nothing are not there.
class PinatraceReader final : public FormatReader {
 public:
  void read(const TraceWords& line, AccessQueue& accesses) override {
    if (line[0].starts_with('#')) return;
    line.expect(3, 3, kPinLine);
    if (!is_instruction(line[0])) line.refuse("bad instruction", line[0], "an address and a colon");
    if (line[1] != "R" && line[1] != "W") line.refuse("bad kind", line[1], "R or W");
    accesses.add(line_access(line[2] == kNull ? 0 : line.hexadecimal(2),
                             line[1] == "R" ? AccessKind::kRead : AccessKind::kWrite));
  }
};

}  // namespace

std::vector<TraceFormat> pinatrace_formats() {
  return {{.name = "pinatrace",
           .about = "Pin's pinatrace",
           .line = kPinLine,
           .fits = fits_pinatrace,
           .make = [](const TraceOptions&) -> std::unique_ptr<FormatReader> {
             return std::make_unique<PinatraceReader>();
           },
           .comment = "#"}};
}

}  // namespace cxloom

#include "workload/trace_lines.hpp"

namespace cxloom {

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += "\\x";
      result += kDigits[byte / 16];
      result += kDigits[byte % 16];
    }
  }
  if (text.size() > kLongest) result += "...";
  return result + "'";
}

TraceError LineSplitter::too_long(std::string_view piece) const {
  return TraceError({"a line of more than " + std::to_string(kLongestLine) + " bytes",
                     quoted(begun_ + std::string(piece)),
                     "a trace in text form",
                     {}},
                    number_ + 1);
}

}  // namespace cxloom

#include "workload/trace/lines.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace cxloom {

std::string_view take_word(std::string_view& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto begin = std::find_if_not(text.begin(), text.end(), is_blank);
  const auto end = std::find_if(begin, text.end(), is_blank);
  text = {end, text.end()};
  return {begin, end};
}

bool parse_number(std::string_view text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

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
  return TraceError({"a line of more than " + counted(longest_, "byte"),
                     quoted(begun_ + std::string(piece)),
                     "a trace in text form",
                     {}},
                    number_ + 1);
}

}  // namespace cxloom

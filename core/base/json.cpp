#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace cxloom {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value read_all() {
    Value value = read(0);
    skip_space();
    if (at_ != text_.size()) fail("more after the end of the JSON text");
    return value;
  }

 private:
  static constexpr int kDeepest = 100;

  [[noreturn]] void fail(const std::string& problem) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw InputError({"line " + std::to_string(line) + ": " + problem, {}, {}, {}});
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail(std::string("no JSON: '") + wanted + "' is missing");
  }

  Value read(int depth) {
    if (depth == kDeepest) fail("nested more than 100 levels deep");
    skip_space();
    if (at_ == text_.size()) fail("the JSON text ends in the middle");
    switch (text_[at_]) {
      case '{': return read_object(depth);
      case '[': return read_list(depth);
      case '"': return read_text();
      default: return read_word();
    }
  }

  Value read_object(int depth) {
    expect('{');
    Value::Map map;
    if (take('}')) return map;
    do {
      skip_space();
      if (at_ == text_.size() || text_[at_] != '"') fail("no JSON: a key is missing");
      std::string key = read_text();
      expect(':');
      map.emplace_back(std::move(key), read(depth + 1));
    } while (take(','));
    expect('}');
    refuse_keys_written_twice(map);
    return map;
  }

  // Objects may have many thousand keys: devices.
  void refuse_keys_written_twice(const Value::Map& map) const {
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : map) keys.emplace_back(key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) fail("the key '" + std::string(*twice) + "' stands twice");
  }

  Value read_list(int depth) {
    expect('[');
    Value::List list;
    if (take(']')) return list;
    do list.push_back(read(depth + 1));
    while (take(','));
    expect(']');
    return list;
  }

  std::string read_text() {
    ++at_;
    std::string text;
    for (;;) {
      if (at_ == text_.size()) fail("a text that does not end");
      const char each = text_[at_++];
      if (each == '"') return text;
      if (static_cast<unsigned char>(each) < 0x20) fail("a control character in a text");
      if (each == '\\') {
        append_escaped(text);
      } else {
        text += each;
      }
    }
  }

  void append_escaped(std::string& text) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) fail("a text that does not end");
    const char name = text_[at_++];
    if (name == 'u') {
      append_utf8(read_code_point(), text);
      return;
    }
    const std::size_t which = kNames.find(name);
    if (which == std::string_view::npos) fail(std::string("no JSON: '\\") + name + "' in a text");
    text += kMeant[which];
  }

  std::uint32_t read_hexadecimal() {
    std::uint32_t code = 0;
    const char* const first = text_.data() + at_;
    const std::size_t left = std::min<std::size_t>(4, text_.size() - at_);
    const auto [end, error] = std::from_chars(first, first + left, code, 16);
    if (error != std::errc{} || end != first + 4) fail("no JSON: \\u needs four hexadecimal digits");
    at_ += 4;
    return code;
  }

  std::uint32_t read_code_point() {
    const std::uint32_t code = read_hexadecimal();
    if (code < 0xd800 || code > 0xdfff) return code;
    // A pair of surrogates is one code point (RFC 8259, section 7).
    if (code > 0xdbff || text_.substr(at_, 2) != "\\u") fail("half of a pair of surrogates");
    at_ += 2;
    const std::uint32_t low = read_hexadecimal();
    if (low < 0xdc00 || low > 0xdfff) fail("half of a pair of surrogates");
    return 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
  }

  static void append_utf8(std::uint32_t code, std::string& text) {
    const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | code >> 6U), byte(0x80 | (code & 0x3fU));
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12U), byte(0x80 | ((code >> 6U) & 0x3fU)), byte(0x80 | (code & 0x3fU));
    } else {
      byte(0xf0 | code >> 18U), byte(0x80 | ((code >> 12U) & 0x3fU));
      byte(0x80 | ((code >> 6U) & 0x3fU)), byte(0x80 | (code & 0x3fU));
    }
  }

  Value read_word() {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "null") return at_ = end, Value();
    if (word == "true" || word == "false") return at_ = end, Value(word == "true");
    const std::string_view digits = word.starts_with('-') ? word.substr(1) : word;
    const bool leading_zero = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    const std::size_t point = digits.find('.');
    const bool ends_with_point =
        point != std::string_view::npos && digits.substr(point + 1).find_first_of(kDigits) != 0;
    if (digits.empty() || digits[0] < '0' || digits[0] > '9' || leading_zero || ends_with_point)
      fail("no JSON: '" + std::string(word.substr(0, 40)) + "'");
    Value number = word.find_first_of(".eE") == std::string_view::npos ? read_number<std::int64_t>(word)
                                                                       : read_number<double>(word);
    at_ = end;
    return number;
  }

  /// Whether a number that is out of range lies next to zero; it is read as zero then.
  static bool is_small(std::string_view word) {
    const std::size_t mark = word.find_first_of("eE");
    if (mark == std::string_view::npos && word.find('.') == std::string_view::npos) return false;
    std::string_view power = mark == std::string_view::npos ? "0" : word.substr(mark + 1);
    if (power.front() == '+') power.remove_prefix(1);
    std::int64_t exponent = 0;
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc{})
      return power.front() == '-';
    const std::string_view mantissa = word.substr(0, mark);
    const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
    const auto first = static_cast<std::int64_t>(mantissa.find_first_of(kDigits.substr(1)));
    return exponent < first - point;
  }

  template <class Number>
  Value read_number(std::string_view word) const {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc::invalid_argument || end != word.data() + word.size())
      fail("no JSON: '" + std::string(word.substr(0, 40)) + "'");
    if (error == std::errc::result_out_of_range && !is_small(word))
      fail("a number out of range: " + std::string(word.substr(0, 40)));
    return number;
  }

  static constexpr std::string_view kDigits = "0123456789";

  std::string_view text_;
  std::size_t at_ = 0;
};

template <class Number>
void write_number(Number number, std::string& out) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  ensure(error == std::errc{}, "a number of more than 32 characters");
  out.append(digits.data(), end);
}

void write_text(std::string_view text, std::string& out) {
  static constexpr std::string_view kHexadecimal = "0123456789abcdef";
  out += '"';
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      out += '\\';
      out += each;
    } else if (code < 0x20) {
      out += "\\u00";
      out += kHexadecimal[code >> 4U];
      out += kHexadecimal[code & 0xfU];
    } else {
      out += each;
    }
  }
  out += '"';
}

void write(const Value& value, std::string& out) {
  const char* separator = "";
  if (const Value::Map* map = value.as_map()) {
    out += '{';
    for (const auto& [key, each] : *map) {
      out += std::exchange(separator, ", ");
      write_text(key, out);
      out += ": ";
      write(each, out);
    }
    out += '}';
  } else if (const Value::List* list = value.as_list()) {
    out += '[';
    for (const Value& each : *list) {
      out += std::exchange(separator, ", ");
      write(each, out);
    }
    out += ']';
  } else if (const std::string* text = value.as_text()) {
    write_text(*text, out);
  } else if (const bool* flag = value.as_bool()) {
    out += *flag ? "true" : "false";
  } else if (const std::int64_t* integer = value.as_integer()) {
    write_number(*integer, out);
  } else if (const double* real = value.as_real(); real && std::isfinite(*real)) {
    const std::size_t before = out.size();
    write_number(*real, out);
    // So that it is read back as what it was, and not as a whole number.
    if (out.find_first_of(".e", before) == std::string::npos) out += ".0";
  } else {
    out += "null";
  }
}

}  // namespace

Value parse_json(std::string_view text) { return Reader(text).read_all(); }

std::string to_json(const Value& value) {
  std::string out;
  write(value, out);
  return out;
}

}  // namespace cxloom

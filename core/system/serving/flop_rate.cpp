#include "system/serving/flop_rate.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::array<std::pair<char, double>, 5> kFlopPrefixes{
    {{'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}}};

}  // namespace

void read_value(const Value& value, FlopRate& out) {
  const std::string* text = value.as_text();
  double number = 0;
  if (text) {
    const char* end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, number);
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    double scale = 1;
    for (const auto& [letter, times] : kFlopPrefixes) {
      if (unit.starts_with(letter)) scale = times;
    }
    if (scale > 1) unit.remove_prefix(1);
    number *= scale;
    if (error == std::errc{} && unit == "FLOP/s" && number > 0 && number < 1e30) {
      out.per_second = number;
      return;
    }
  }
  throw InputError({"not a rate of operations", value.described(), "a rate such as 312TFLOP/s", {}});
}

std::string to_text(const FlopRate& rate) {
  if (rate.per_second == 0) return {};
  double number = rate.per_second;
  std::string prefix;
  for (const auto& [letter, times] : kFlopPrefixes) {
    if (rate.per_second >= times) {
      number = rate.per_second / times;
      prefix = letter;
    }
  }
  return Value(number).described() + prefix + "FLOP/s";
}

}  // namespace cxloom

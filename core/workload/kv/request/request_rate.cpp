#include "workload/kv/request/request_rate.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 6> kRateUnits{
    {{"/s", 1.0}, {"k/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}, {"/min", 1.0 / 60}, {"/h", 1.0 / 3600}}};
constexpr double kLeastRate = 1e-6;
constexpr double kMostRate = 1e12;

}  // namespace

void read_value(const Value& value, RequestRate& out) {
  const std::string* text = value.as_text();
  if (text && *text == "unlimited") {
    out = RequestRate{};
    return;
  }
  if (text) {
    const char* end = text->data() + text->size();
    double number = 0;
    const auto [rest, error] = std::from_chars(text->data(), end, number);
    std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    while (suffix.starts_with(' ')) suffix.remove_prefix(1);
    for (const auto& [unit, scale] : kRateUnits) {
      if (error != std::errc{} || suffix != unit) continue;
      const double rate = number * scale;
      if (!(rate >= kLeastRate && rate <= kMostRate)) break;
      out.per_second = rate;
      return;
    }
  }
  throw InputError({"not a rate",
                    value.described(),
                    "a rate such as 0.5/s, from 1e-6/s to 1e12/s (units: /s, k/s, M/s, G/s, /min, /h, or the "
                    "word unlimited)",
                    {}});
}

std::string to_text(const RequestRate& rate) {
  return std::isinf(rate.per_second) ? "unlimited" : Value(rate.per_second).described() + "/s";
}

}  // namespace cxloom

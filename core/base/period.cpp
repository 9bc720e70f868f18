#include "base/period.hpp"

#include <array>
#include <limits>

#include "base/error.hpp"

namespace cxloom {

namespace {

__extension__ using Product = unsigned __int128;

struct PeriodUnit {
  std::string_view suffix;
  std::uint64_t steps;        // of a number of these, so many steps ...
  std::uint64_t picoseconds;  // ... take so many picoseconds
  bool inverse;               // the number counts steps
};
constexpr std::uint64_t kSecond = 1'000'000'000'000;
constexpr std::array<PeriodUnit, 9> kPeriodUnits{{{"ps", 1, 1, false},
                                                  {"ns", 1, 1'000, false},
                                                  {"us", 1, 1'000'000, false},
                                                  {"ms", 1, 1'000'000'000, false},
                                                  {"s", 1, kSecond, false},
                                                  {"kHz", 1'000, kSecond, true},
                                                  {"MHz", 1'000'000, kSecond, true},
                                                  {"GHz", 1'000'000'000, kSecond, true},
                                                  {"Hz", 1, kSecond, true}}};

[[noreturn]] void refuse_period(std::string_view text, const char* why) {
  throw InputError(
      {why,
       "'" + std::string(text) + "'",
       "how long one takes, such as 625ps or 2.4GHz (units: ps, ns, us, ms, s, Hz, kHz, MHz, GHz)",
       {}});
}

Product greatest_divisor(Product a, Product b) {
  while (b != 0) {
    const Product rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

std::optional<Time> Period::after(std::uint64_t steps) const {
  Product time = Product{steps} * steps_.numerator();
  if (steps_.denominator() != 1) time /= steps_.denominator();
  if (time > static_cast<Product>(Time::max().ps())) return std::nullopt;
  return Time{static_cast<std::int64_t>(time)};
}

std::uint64_t Period::most_steps() const {
  const Product most =
      Product{static_cast<std::uint64_t>(Time::max().ps())} * steps_.denominator() / steps_.numerator();
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return most > kMost ? kMost : static_cast<std::uint64_t>(most);
}

Period parse_period(std::string_view text) {
  constexpr std::uint64_t kMostDigits = 1'000'000'000'000'000;
  std::uint64_t digits = 0;
  std::uint64_t power = 1;
  bool any = false;
  bool point = false;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (digits >= kMostDigits || power >= kMostDigits)
        refuse_period(text, "the number has too many digits");
      any = true;
      digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
      power *= point ? 10 : 1;
    } else {
      break;
    }
  }
  if (!any) refuse_period(text, "not a length of time");
  while (end < text.size() && text[end] == ' ') ++end;
  const std::string_view suffix = text.substr(end);
  if (suffix.empty()) refuse_period(text, "the unit is missing");
  for (const PeriodUnit& unit : kPeriodUnits) {
    if (unit.suffix != suffix) continue;
    if (digits == 0) refuse_period(text, "it must be longer than zero");
    Product steps = Product{unit.steps} * (unit.inverse ? digits : power);
    Product picoseconds = Product{unit.picoseconds} * (unit.inverse ? power : digits);
    const Product divisor = greatest_divisor(steps, picoseconds);
    steps /= divisor;
    picoseconds /= divisor;
    constexpr std::uint64_t kLongest = 3600;  // seconds, as of any time
    if (picoseconds > Product{kLongest} * kSecond * steps)
      throw InputError({"it is too long", "'" + std::string(text) + "'", "at most 3600s", {}});
    constexpr Product kMost = Product{1} << 62U;
    if (steps > kMost || picoseconds > kMost) refuse_period(text, "the number has too many digits");
    return Period{Rate::per_time(static_cast<std::uint64_t>(steps), static_cast<std::uint64_t>(picoseconds))};
  }
  refuse_period(text, "unknown unit");
}

// A decimal of picoseconds if it ends within the digits that a number may have, else the frequency, which
// then does.
std::string to_text(const Period& period) {
  const Rate& steps = period.steps();
  if (steps.denominator() == 1 &&
      steps.numerator() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return to_text(Time{static_cast<std::int64_t>(steps.numerator())});
  const auto decimal = [](Product above, Product below) -> std::string {
    std::string text = std::to_string(static_cast<std::uint64_t>(above / below));
    Product rest = above % below;
    std::string places;
    for (; rest != 0 && places.size() < 15; rest %= below) {
      rest *= 10;
      places += static_cast<char>('0' + static_cast<int>(rest / below));
    }
    if (rest != 0) return {};
    return places.empty() ? text : text + "." + places;
  };
  if (const std::string text = decimal(steps.numerator(), steps.denominator()); !text.empty())
    return text + "ps";
  const std::string hertz = decimal(Product{kSecond} * steps.denominator(), steps.numerator());
  if (hertz.ends_with("000000")) return hertz.substr(0, hertz.size() - 6) + "MHz";
  return hertz.empty() ? std::to_string(1e12 / steps.per_second()) + "ps" : hertz + "Hz";
}

void read_value(const Value& value, Period& out) {
  if (const std::string* text = value.as_text()) {
    out = parse_period(*text);
    return;
  }
  const bool number = value.as_integer() || value.as_real();
  throw InputError({number ? "the unit is missing" : "not a quantity",
                    value.described(),
                    "a quantity with its unit, such as 625ps or 2.4GHz",
                    {}});
}

}  // namespace cxloom

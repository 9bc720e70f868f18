#include "base/units.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <numeric>
#include <span>

#include "base/error.hpp"

namespace cxloom {

std::string rounded_text(double number) {
  std::array<char, 32> buffer{};
  constexpr int kDigits = 3;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::general, kDigits)
          .ptr;
  return {buffer.data(), end};
}

namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t scale;  // base units (ps, bytes, bytes per second, requests per second) in one of these
  std::uint64_t divisor = 1;
};

constexpr std::uint64_t kKilo = 1000;
constexpr std::uint64_t kMega = kKilo * 1000;
constexpr std::uint64_t kGiga = kMega * 1000;
constexpr std::uint64_t kTera = kGiga * 1000;

constexpr std::array kTimeUnits{Unit{"ps", 1}, Unit{"ns", kKilo}, Unit{"us", kMega}, Unit{"ms", kGiga},
                                Unit{"s", kTera}};
constexpr std::array kByteUnits{Unit{"B", 1},
                                Unit{"KiB", 1ULL << 10U},
                                Unit{"MiB", 1ULL << 20U},
                                Unit{"GiB", 1ULL << 30U},
                                Unit{"TiB", 1ULL << 40U},
                                Unit{"KB", kKilo},
                                Unit{"kB", kKilo},
                                Unit{"MB", kMega},
                                Unit{"GB", kGiga},
                                Unit{"TB", kTera}};
constexpr std::array kBandwidthUnits{Unit{"B/s", 1},
                                     Unit{"KB/s", kKilo},
                                     Unit{"kB/s", kKilo},
                                     Unit{"MB/s", kMega},
                                     Unit{"GB/s", kGiga},
                                     Unit{"TB/s", kTera},
                                     Unit{"KiB/s", 1ULL << 10U},
                                     Unit{"MiB/s", 1ULL << 20U},
                                     Unit{"GiB/s", 1ULL << 30U},
                                     Unit{"TiB/s", 1ULL << 40U},
                                     Unit{"Mb/s", kMega, 8},
                                     Unit{"Gb/s", kGiga, 8},
                                     Unit{"Tb/s", kTera, 8}};
// What happens so often a second, and cycles: clocks are written in hertz everywhere.
constexpr std::array kFrequencyUnits{Unit{"/s", 1},      Unit{"k/s", kKilo}, Unit{"M/s", kMega},
                                     Unit{"G/s", kGiga}, Unit{"Hz", 1},      Unit{"kHz", kKilo},
                                     Unit{"MHz", kMega}, Unit{"GHz", kGiga}};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

struct Decimal {
  std::uint64_t digits = 0;  // the number without its point
  std::uint64_t power = 1;   // divided by this power of ten
};

struct UnitKind {
  std::string_view name;     // "a time"
  std::string_view example;  // "10ns"
  std::string_view units;
};

[[noreturn]] void refuse(const UnitKind& kind, std::string_view text, const std::string& why) {
  throw InputError({why,
                    quoted(text),
                    std::string(kind.name) + " such as " + std::string(kind.example) +
                        " (units: " + std::string(kind.units) + ")",
                    {}});
}

// Splits "1.5us" into the decimal and its unit, without going through a float.
const Unit& split(std::string_view text, std::span<const Unit> units, const UnitKind& kind, Decimal& number) {
  std::size_t end = 0;
  bool point = false;
  bool any = false;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (number.digits > (std::numeric_limits<std::uint64_t>::max() - 9) / 10)
        refuse(kind, text, "the number is too large");
      number.digits = number.digits * 10 + static_cast<std::uint64_t>(c - '0');
      if (point) {
        if (number.power > std::numeric_limits<std::uint64_t>::max() / 10)
          refuse(kind, text, "the number has too many digits");
        number.power *= 10;
      }
    } else {
      break;
    }
  }
  if (!any) refuse(kind, text, !text.empty() && text[0] == '-' ? "a negative quantity" : "not a quantity");
  while (end < text.size() && text[end] == ' ') ++end;
  const std::string_view suffix = text.substr(end);
  if (suffix.empty()) refuse(kind, text, "the unit is missing");
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) return unit;
  }
  refuse(kind, text, "unknown unit " + quoted(suffix));
}

// A whole number of base units; refuses what is not one, instead of rounding in silence.
std::uint64_t whole(std::string_view text, std::span<const Unit> units, const UnitKind& kind,
                    std::string_view base) {
  Decimal number;
  const Unit& unit = split(text, units, kind, number);
  const Wide scaled = Wide{number.digits} * unit.scale;
  const Wide divisor = Wide{number.power} * unit.divisor;
  if (scaled % divisor != 0) refuse(kind, text, "not a whole number of " + std::string(base));
  const Wide value = scaled / divisor;
  if (value > static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
    refuse(kind, text, "the quantity is too large");
  return static_cast<std::uint64_t>(value);
}

Rate rational(std::string_view text, std::span<const Unit> units, const UnitKind& kind) {
  Decimal number;
  const Unit& unit = split(text, units, kind, number);
  if (number.digits == 0) refuse(kind, text, "the rate must be above zero");
  Wide per_second = Wide{number.digits} * unit.scale;
  Wide picoseconds = Wide{kTera} * number.power * unit.divisor;
  Wide a = per_second;
  Wide b = picoseconds;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  per_second /= a;
  picoseconds /= a;
  // RateMeter multiplies by up to 2^20 units (a page is 2^12 bytes) and must stay inside 64 bits.
  constexpr Wide kLimit = Wide{1} << 43U;
  if (per_second > kLimit || picoseconds > kLimit)
    refuse(kind, text, "the rate has too many digits, or is too low");
  return Rate::per_time(static_cast<std::uint64_t>(per_second), static_cast<std::uint64_t>(picoseconds));
}

constexpr UnitKind kTimeKind{"a time", "10ns", "ps, ns, us, ms, s"};
constexpr UnitKind kBytesKind{"a size", "16GiB", "B, KiB, MiB, GiB, TiB, KB, MB, GB, TB"};
constexpr UnitKind kBandwidthKind{"a bandwidth", "64GB/s",
                                  "B/s, KB/s, MB/s, GB/s, TB/s, GiB/s, Gb/s, or the word unlimited"};
constexpr UnitKind kFrequencyKind{"a rate", "50M/s",
                                  "/s, k/s, M/s, G/s, Hz, kHz, MHz, GHz, or the word unlimited"};

// The largest unit that divides the value exactly.
std::string exact_text(std::uint64_t value, std::span<const Unit> units) {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    if (unit.divisor == 1 && value % unit.scale == 0 && value >= unit.scale &&
        (!best || unit.scale > best->scale))
      best = &unit;
  }
  if (!best) best = units.data();
  return std::to_string(value / best->scale) + std::string(best->suffix);
}

// Units per second as a decimal, with the largest power of 1000 that keeps it at or above one: exact if the
// decimal ends, as that of every rate that was read does, else cut after nine places.
std::string rate_text(const Rate& rate, std::span<const std::string_view> suffixes) {
  if (rate.unlimited()) return "unlimited";
  constexpr std::size_t kMostPlaces = 40;
  constexpr std::size_t kPlacesOfTheEndless = 9;
  Wide rest = Wide{rate.denominator()} * kTera;
  Wide divisor = rate.numerator();
  std::size_t step = 0;
  while (rest / divisor >= 1000 && step + 1 < suffixes.size()) {
    divisor *= 1000;
    ++step;
  }
  const std::string whole = std::to_string(static_cast<std::uint64_t>(rest / divisor));
  std::string places;
  for (rest %= divisor; rest != 0 && places.size() < kMostPlaces; rest %= divisor) {
    rest *= 10;
    places += static_cast<char>('0' + static_cast<int>(rest / divisor));
  }
  if (rest != 0) places.resize(kPlacesOfTheEndless);
  places.erase(places.find_last_not_of('0') + 1);
  return whole + (places.empty() ? "" : "." + places) + std::string(suffixes[step]);
}

}  // namespace

Rate Rate::per_time(std::uint64_t units, std::uint64_t picoseconds) {
  ensure(units > 0 && picoseconds > 0, "a rate needs positive units and time");
  const std::uint64_t divisor = std::gcd(units, picoseconds);
  Rate rate;
  rate.numerator_ = picoseconds / divisor;
  rate.denominator_ = units / divisor;
  return rate;
}

Rate twice(const Rate& rate) {
  return rate.unlimited() ? rate : Rate::per_time(2 * rate.denominator(), rate.numerator());
}

double Rate::per_second() const {
  if (unlimited()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(denominator_) * 1e12 / static_cast<double>(numerator_);
}

bool Rate::slower_than(const Rate& other) const {
  return Wide{numerator_} * other.denominator_ > Wide{other.numerator_} * denominator_;
}

Time parse_time(std::string_view text) {
  return Time{static_cast<std::int64_t>(whole(text, kTimeUnits, kTimeKind, "picoseconds"))};
}

Bytes parse_bytes(std::string_view text) { return Bytes{whole(text, kByteUnits, kBytesKind, "bytes")}; }

Bandwidth parse_bandwidth(std::string_view text) {
  if (text == "unlimited") return {};
  return {rational(text, kBandwidthUnits, kBandwidthKind)};
}

Frequency parse_frequency(std::string_view text) {
  if (text == "unlimited") return {};
  return {rational(text, kFrequencyUnits, kFrequencyKind)};
}

Address parse_address(std::string_view text) {
  std::uint64_t value = 0;
  const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char* end = text.data() + text.size();
  if (prefixed) {
    const auto [stop, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (error == std::errc{} && stop == end) return Address{value};
  }
  if (!prefixed && text.size() > 1 && text.front() >= '0' && text.front() <= '9' && text.back() == 'B')
    return Address{parse_bytes(text).count()};
  throw InputError(
      {"not an address", quoted(text), "a hexadecimal address such as 0x1000, or a size such as 64GiB", {}});
}

double parse_fraction(std::string_view text) {
  double value = 0;
  if (text.size() > 1 && text.back() == '%') {
    const char* end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end) return value / 100.0;
  }
  throw InputError({"not a number", quoted(text), "a number, or a percentage such as 67%", {}});
}

std::string to_text(Time time) {
  if (time.ps() < 0) return "-" + to_text(Time{-time.ps()});
  return exact_text(static_cast<std::uint64_t>(time.ps()), kTimeUnits);
}

std::string to_text(Bytes bytes) {
  return exact_text(bytes.count(), std::span(kByteUnits).first(5));  // binary units only
}

std::string to_text(const Bandwidth& bandwidth) {
  static constexpr std::array<std::string_view, 5> kSuffixes{"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  return rate_text(bandwidth.rate, kSuffixes);
}

std::string to_text(const Frequency& frequency) {
  static constexpr std::array<std::string_view, 4> kSuffixes{"/s", "k/s", "M/s", "G/s"};
  return rate_text(frequency.rate, kSuffixes);
}

std::string to_text(Address address) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), address.value(), 16).ptr;
  return "0x" + std::string(buffer.data(), end);
}

std::string percent_text(double share) { return rounded_text(100.0 * share) + " %"; }

}  // namespace cxloom

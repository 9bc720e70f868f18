// Strong types for quantities: a unit mistake does not compile, and text always carries its unit.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace cxloom {

/// A number to three digits: "0.0123".
std::string rounded_text(double number);

/// 128 bits, for products of two 64-bit numbers.
__extension__ using Wide = unsigned __int128;

/// A point in simulated time, or a length of it, in integer picoseconds.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t picoseconds) : ps_(picoseconds) {}
  static constexpr Time max() { return Time{std::numeric_limits<std::int64_t>::max()}; }

  constexpr std::int64_t ps() const { return ps_; }
  constexpr double ns() const { return static_cast<double>(ps_) / 1000.0; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time other) { return ps_ += other.ps_, *this; }
  constexpr Time& operator-=(Time other) { return ps_ -= other.ps_, *this; }
  friend constexpr Time operator+(Time a, Time b) { return Time{a.ps_ + b.ps_}; }
  friend constexpr Time operator-(Time a, Time b) { return Time{a.ps_ - b.ps_}; }
  friend constexpr Time operator*(Time a, std::int64_t n) { return Time{a.ps_ * n}; }

 private:
  std::int64_t ps_ = 0;
};

/// A number of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}
  constexpr std::uint64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count_ + b.count_}; }
  friend constexpr Bytes operator*(Bytes a, std::uint64_t n) { return Bytes{a.count_ * n}; }

 private:
  std::uint64_t count_ = 0;
};

/// A byte address in the system's physical address space.
class Address {
 public:
  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : value_(value) {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Address&) const = default;

 private:
  std::uint64_t value_ = 0;
};

/// Bytes of a cache line: the unit of coherence in CXL.
inline constexpr std::uint64_t kLineBytes = 64;

/// The number of a 64-byte line: an address without its offset.
class LineAddress {
 public:
  constexpr LineAddress() = default;
  constexpr explicit LineAddress(std::uint64_t number) : number_(number) {}
  static constexpr LineAddress of(Address address) { return LineAddress{address.value() / kLineBytes}; }
  constexpr std::uint64_t number() const { return number_; }
  constexpr Address address() const { return Address{number_ * kLineBytes}; }
  constexpr LineAddress next() const { return LineAddress{number_ + 1}; }
  constexpr auto operator<=>(const LineAddress&) const = default;

 private:
  std::uint64_t number_ = 0;
};

/// The dense index of a component in its system.
class NodeId {
 public:
  constexpr NodeId() = default;
  constexpr explicit NodeId(std::uint32_t index) : index_(index) {}
  constexpr std::uint32_t index() const { return index_; }
  constexpr auto operator<=>(const NodeId&) const = default;

 private:
  std::uint32_t index_ = std::numeric_limits<std::uint32_t>::max();
};

/// The 12-bit identity of an edge port in a fabric of PBR switches.
class PbrId {
 public:
  static constexpr std::uint32_t kCount = 4096;
  constexpr PbrId() = default;
  constexpr explicit PbrId(std::uint16_t value) : value_(value) {}
  constexpr std::uint16_t value() const { return value_; }
  constexpr auto operator<=>(const PbrId&) const = default;

 private:
  std::uint16_t value_ = 0;
};

/// A rational rate, kept as picoseconds per unit (byte, request): `numerator / denominator`.
/// The default is unlimited: a unit takes no time.
class Rate {
 public:
  constexpr Rate() = default;
  /// `units` units every `picoseconds`; both positive. Reduced to lowest terms.
  static Rate per_time(std::uint64_t units, std::uint64_t picoseconds);

  constexpr bool unlimited() const { return numerator_ == 0; }
  constexpr std::uint64_t numerator() const { return numerator_; }
  constexpr std::uint64_t denominator() const { return denominator_; }
  /// Units per second; infinite when unlimited.
  double per_second() const;
  /// True if a unit takes longer at this rate than at `other`.
  bool slower_than(const Rate& other) const;
  bool operator==(const Rate&) const = default;

 private:
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 1;
};

/// Bytes per second.
/// Twice as much; of what has no limit the same.
Rate twice(const Rate& rate);

struct Bandwidth {
  Rate rate;
  bool operator==(const Bandwidth&) const = default;
};

/// Requests (or other events) per second.
struct Frequency {
  Rate rate;
  bool operator==(const Frequency&) const = default;
};

/// Turns a run of amounts at a rational rate into integer picoseconds without drift: the remainder of each
/// division is carried into the next, so that n units take floor(n * rate) in all, however they are cut up.
class RateMeter {
 public:
  explicit RateMeter(Rate rate = {}) : rate_(rate) {}
  const Rate& rate() const { return rate_; }

  /// The time that `units` more take.
  Time advance(std::uint64_t units) {
    const std::uint64_t total = units * rate_.numerator() + remainder_;
    const std::uint64_t divisor = rate_.denominator();
    std::uint64_t quotient = 0;
    // Most rates in GB/s have a power of two here; a division takes many cycles, and what follows waits for
    // it.
    if ((divisor & (divisor - 1)) == 0) {
      quotient =
          total >> static_cast<unsigned>(__builtin_ctzll(divisor));  // a rate's denominator is never zero
      remainder_ = total & (divisor - 1);
    } else {
      quotient = total / divisor;
      remainder_ = total - quotient * divisor;
    }
    return Time{static_cast<std::int64_t>(quotient)};
  }
  /// Forgets the carried remainder: after an idle time the next unit starts afresh.
  void restart() { remainder_ = 0; }
  /// Does so, or not, without a jump that nobody can foresee.
  void restart_if(bool idle) { remainder_ &= static_cast<std::uint64_t>(idle) - 1; }

 private:
  Rate rate_;
  std::uint64_t remainder_ = 0;
};

// Text forms. Each `parse_` throws InputError naming what was found and what is allowed; a number without its
// unit is an error. Each `to_text` gives the shortest exact form, which parses back to the same value.
Time parse_time(std::string_view text);            ///< "10ns", "1.5us"; ps, ns, us, ms, s
Bytes parse_bytes(std::string_view text);          ///< "64B", "16GiB", "1KB" (= 1000 B)
Bandwidth parse_bandwidth(std::string_view text);  ///< "64GB/s", "25.6GB/s", "512Gb/s" (bits), "unlimited"
Frequency parse_frequency(std::string_view text);  ///< "50M/s" requests per second; k, M, G; "unlimited"
Address parse_address(std::string_view text);      ///< "0x1000"
double parse_fraction(std::string_view text);      ///< "67%"

std::string to_text(Time time);
std::string to_text(Bytes bytes);
std::string to_text(const Bandwidth& bandwidth);
std::string to_text(const Frequency& frequency);
std::string to_text(Address address);
/// A share to three digits, for people: "2.5 %".
std::string percent_text(double share);

namespace literals {
constexpr Time operator""_ps(unsigned long long n) { return Time{static_cast<std::int64_t>(n)}; }
constexpr Time operator""_ns(unsigned long long n) { return Time{static_cast<std::int64_t>(n) * 1000}; }
constexpr Time operator""_us(unsigned long long n) { return Time{static_cast<std::int64_t>(n) * 1000000}; }
constexpr Time operator""_ms(unsigned long long n) { return Time{static_cast<std::int64_t>(n) * 1000000000}; }
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{n}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{n << 10U}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{n << 20U}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{n << 30U}; }
inline Bandwidth operator""_GBps(unsigned long long n) { return {Rate::per_time(n, 1000)}; }
}  // namespace literals

inline constexpr auto kIsPowerOfTwo = [](const Bytes& value) { return std::has_single_bit(value.count()); };

}  // namespace cxloom

// A stand-in of SST's numbers with units, of bytes.
#pragma once

#include <cstdint>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): the names are SST's.
namespace SST {

class UnitAlgebra {
 public:
  explicit UnitAlgebra(const std::string& text) {
    std::size_t digits = 0;
    value_ = std::stoll(text, &digits);
    const std::string unit = text.substr(digits);
    if (unit == "KiB") value_ <<= 10;
    else if (unit == "MiB") value_ <<= 20;
  }
  std::int64_t getRoundedValue() const { return value_; }

 private:
  std::int64_t value_;
};

}  // namespace SST
// NOLINTEND(readability-identifier-naming)

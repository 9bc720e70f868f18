#include "base/rounded.hpp"

#include <array>
#include <charconv>

namespace cxloom {

std::string rounded_text(double number) {
  std::array<char, 32> buffer{};
  constexpr int kDigits = 3;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::general, kDigits)
          .ptr;
  return {buffer.data(), end};
}

}  // namespace cxloom

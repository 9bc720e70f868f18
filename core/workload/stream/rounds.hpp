// How often a trace is played.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/value.hpp"

namespace cxloom {

struct Rounds {
  static constexpr std::string_view kSchemaType = "rounds";

  std::uint64_t count = 1;  ///< 0: over and over

  bool forever() const { return count == 0; }
  bool once() const { return count == 1; }
  bool operator==(const Rounds&) const = default;
};

inline void read_value(const Value& value, Rounds& out) {
  const std::int64_t* const number = value.as_integer();
  const std::string* const text = value.as_text();
  if (!(number && *number > 0) && !(text && *text == "forever"))
    throw InputError({"not a number of times", value.described(), "1 or more, or forever", {}});
  out.count = number ? static_cast<std::uint64_t>(*number) : 0;
}

inline std::string to_text(const Rounds& rounds) {
  return rounds.forever() ? "forever" : std::to_string(rounds.count);
}

}  // namespace cxloom

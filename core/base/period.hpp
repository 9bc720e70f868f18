// How long equal steps take, exactly: a tick of a trace, a cycle of a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

/// The length of a step: a rational number of picoseconds, so that the time of a step never drifts.
class Period {
 public:
  static constexpr std::string_view kSchemaType = "period";

  constexpr Period() = default;
  explicit Period(Rate steps) : steps_(steps) {}

  /// The time after so many steps, in whole picoseconds; none if it is more than a Time holds.
  std::optional<Time> after(std::uint64_t steps) const;
  /// The most steps whose time can be said.
  std::uint64_t most_steps() const;
  const Rate& steps() const { return steps_; }
  bool operator==(const Period&) const = default;

 private:
  Rate steps_ = Rate::per_time(1, 1);
};

Period parse_period(std::string_view text);  ///< "625ps", "416.667ps", or by its frequency, "2.4GHz"
std::string to_text(const Period& period);   ///< the frequency if that is shorter
void read_value(const Value& value, Period& out);

}  // namespace cxloom

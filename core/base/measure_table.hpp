// The measures of a component in one table: name, unit, meaning, and the member that has the value. What is declared and what
// is reported come from it, in its order.
//
//   struct Measured {
//     std::uint64_t messages = 0;
//     std::optional<double> hit_rate;  // none: not reported
//   };
//   constexpr std::array kMeasures{
//       measure<&Measured::messages>("messages", "", "messages that left in the window"),
//       measure<&Measured::hit_rate>("hit_rate", "", "hits / look-ups"),
//   };
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/measure.hpp"

namespace cxloom {

template <class Measured>
struct Measure {
  MeasureInfo info;
  void (*report)(const MeasureInfo& info, const Measured& values, MeasureSink& sink);
};

namespace measure_detail {

template <class Measured, class Member>
Measured owner_of(Member Measured::*);

inline void hand_on(const MeasureInfo& info, double value, MeasureSink& sink) { sink.add(info, value); }
inline void hand_on(const MeasureInfo& info, std::uint64_t value, MeasureSink& sink) {
  sink.count(info, value);
}
template <class T>
void hand_on(const MeasureInfo& info, const std::optional<T>& value, MeasureSink& sink) {
  if (value) hand_on(info, *value, sink);
}

}  // namespace measure_detail

/// A row of a table.
template <auto kMember>
constexpr auto measure(std::string_view name, std::string_view unit, std::string_view meaning) {
  using Measured = decltype(measure_detail::owner_of(kMember));
  return Measure<Measured>{{name, unit, meaning},
                           [](const MeasureInfo& info, const Measured& values, MeasureSink& sink) {
                             measure_detail::hand_on(info, values.*kMember, sink);
                           }};
}

/// What a table declares.
template <class Measured, std::size_t kCount>
std::vector<MeasureInfo> infos_of(const std::array<Measure<Measured>, kCount>& table) {
  std::vector<MeasureInfo> infos;
  for (const Measure<Measured>& measure : table) infos.push_back(measure.info);
  return infos;
}

/// Hands the values on, those that there are.
template <class Measured, std::size_t kCount>
void report_all(const std::array<Measure<Measured>, kCount>& table,
                const std::type_identity_t<Measured>& values, MeasureSink& sink) {
  for (const Measure<Measured>& measure : table) measure.report(measure.info, values, sink);
}

}  // namespace cxloom

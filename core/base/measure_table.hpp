// The measures of a component in one table: name, unit, meaning, and the member that has the value. What is
// declared and what is reported come from it, in its order. A measure that is a map names the table of its
// entries.
//
//   struct Measured {
//     std::uint64_t messages = 0;
//     std::optional<double> hit_rate;  // none: not reported
//   };
//   constexpr std::array kMeasures{
//       measure<&Measured::messages>("messages", "", "messages that left in the window"),
//       measure<&Measured::hit_rate>("hit_rate", "", "hits / look-ups"),
//   };
//
// A counter of a component stands in its struct of counts (kernel/windowed.hpp) and in a row. `Measured`
// derives from that struct, adds what is worked out of counts and levels, and is named beside the member:
//
//   struct Measured : Counts { double queue_mean = 0; };
//   measure<Measured, &Measured::messages>("messages", "", "messages that left in the window")
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

template <class Owner, class Member>
Owner owner_of(Member Owner::*);

template <const auto& kTable>
inline constexpr auto kInfos = [] {
  std::array<MeasureInfo, kTable.size()> infos;
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kTable[i].info;
  return infos;
}();

inline void hand_on(const MeasureInfo& info, double value, MeasureSink& sink) { sink.add(info, value); }
inline void hand_on(const MeasureInfo& info, std::uint64_t value, MeasureSink& sink) {
  sink.count(info, value);
}
inline void hand_on(const MeasureInfo& info, const Value& value, MeasureSink& sink) {
  sink.give(info, value);
}
template <class T>
void hand_on(const MeasureInfo& info, const std::optional<T>& value, MeasureSink& sink) {
  if (value) hand_on(info, *value, sink);
}

}  // namespace measure_detail

/// The rows of another table, as what the entries of a measure are.
template <const auto& kTable>
constexpr MeasureParts parts_of(bool by_name = false) {
  return {measure_detail::kInfos<kTable>.data(), kTable.size(), by_name};
}

/// A row of a table. It is reported if `kWhen`, another member, is true or not zero.
template <class Measured, auto kMember, auto kWhen = nullptr>
constexpr Measure<Measured> measure(std::string_view name, std::string_view unit, std::string_view meaning,
                                    MeasureParts parts = {}) {
  return {{name, unit, meaning, parts},
          [](const MeasureInfo& info, const Measured& values, MeasureSink& sink) {
            if constexpr (!std::is_null_pointer_v<decltype(kWhen)>) {
              if (!(values.*kWhen)) return;
            }
            measure_detail::hand_on(info, values.*kMember, sink);
          }};
}
template <auto kMember>
constexpr auto measure(std::string_view name, std::string_view unit, std::string_view meaning,
                       MeasureParts parts = {}) {
  return measure<decltype(measure_detail::owner_of(kMember)), kMember>(name, unit, meaning, parts);
}

/// The declarations of a table.
template <class Measured, std::size_t kCount>
std::vector<MeasureInfo> infos_of(const std::array<Measure<Measured>, kCount>& table) {
  std::vector<MeasureInfo> infos;
  for (const Measure<Measured>& measure : table) infos.push_back(measure.info);
  return infos;
}

/// The declarations of a device whose parts declare these.
std::vector<MeasureInfo> joined(std::vector<MeasureInfo> first, const std::vector<MeasureInfo>& second);

/// Hands on the values that there are.
template <class Measured, std::size_t kCount>
void report_all(const std::array<Measure<Measured>, kCount>& table,
                const std::type_identity_t<Measured>& values, MeasureSink& sink) {
  for (const Measure<Measured>& measure : table) measure.report(measure.info, values, sink);
}

/// The values as the map that a summary holds.
class MapSink final : public MeasureSink {
 public:
  void add(const MeasureInfo& measure, double value) override;
  void count(const MeasureInfo& measure, std::uint64_t value) override;
  void give(const MeasureInfo& measure, Value value) override;

  bool empty() const;
  Value take();

 private:
  Value::Map map_;
};

template <class Measured, std::size_t kCount>
Value map_of(const std::array<Measure<Measured>, kCount>& table,
             const std::type_identity_t<Measured>& values) {
  MapSink sink;
  report_all(table, values, sink);
  return sink.take();
}

}  // namespace cxloom

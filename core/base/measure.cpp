#include "base/measure.hpp"

#include <string>
#include <utility>

namespace cxloom {

namespace {

/// Calls `hand_on` with the measure under its name behind the prefix.
template <class HandOn>
void with_prefix(std::string_view prefix, const MeasureInfo& measure, HandOn hand_on) {
  const std::string name = std::string(prefix) + std::string(measure.name);
  hand_on(MeasureInfo{name, measure.unit, measure.meaning, measure.parts});
}

}  // namespace

void PrefixedSink::add(const MeasureInfo& measure, double value) {
  with_prefix(prefix_, measure, [&](const MeasureInfo& named) { sink_.add(named, value); });
}

void PrefixedSink::count(const MeasureInfo& measure, std::uint64_t value) {
  with_prefix(prefix_, measure, [&](const MeasureInfo& named) { sink_.count(named, value); });
}

void PrefixedSink::give(const MeasureInfo& measure, Value value) {
  with_prefix(prefix_, measure, [&](const MeasureInfo& named) { sink_.give(named, std::move(value)); });
}

}  // namespace cxloom

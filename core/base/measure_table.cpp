#include "base/measure_table.hpp"

#include <string>
#include <utility>

namespace cxloom {

std::vector<MeasureInfo> joined(std::vector<MeasureInfo> first, const std::vector<MeasureInfo>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void MapSink::add(const MeasureInfo& measure, double value) { give(measure, value); }
void MapSink::count(const MeasureInfo& measure, std::uint64_t value) { give(measure, number(value)); }
void MapSink::give(const MeasureInfo& measure, Value value) {
  map_.emplace_back(std::string(measure.name), std::move(value));
}
bool MapSink::empty() const { return map_.empty(); }
Value MapSink::take() { return std::move(map_); }

}  // namespace cxloom

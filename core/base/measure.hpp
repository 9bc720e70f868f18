// How components hand over what they measured. Each measure is declared once, beside the component that takes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace cxloom {

struct MeasureInfo {
  std::string_view name;
  std::string_view unit;  ///< empty for a pure number
  std::string_view meaning;
};

class MeasureSink {
 public:
  virtual ~MeasureSink() = default;
  virtual void add(const MeasureInfo& measure, double value) = 0;
  /// The same for what is counted.
  virtual void count(const MeasureInfo& measure, std::uint64_t value) = 0;
};

}  // namespace cxloom

// How components hand over what they measured. Each measure is declared once, beside the component that takes it.
#pragma once

#include <cstdint>
#include <string>
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
  /// What is in `measure` may be gone afterwards.
  virtual void add(const MeasureInfo& measure, double value) = 0;
  /// The same for what is counted.
  virtual void count(const MeasureInfo& measure, std::uint64_t value) = 0;
};

/// Hands measures on with something before their names: those of a part, such as media within media.
class PrefixedSink final : public MeasureSink {
 public:
  PrefixedSink(std::string_view prefix, MeasureSink& sink) : prefix_(prefix), sink_(sink) {}

  void add(const MeasureInfo& measure, double value) override {
    const std::string name = named(measure);
    sink_.add({name, measure.unit, measure.meaning}, value);
  }
  void count(const MeasureInfo& measure, std::uint64_t value) override {
    const std::string name = named(measure);
    sink_.count({name, measure.unit, measure.meaning}, value);
  }

 private:
  std::string named(const MeasureInfo& measure) const { return prefix_ + std::string(measure.name); }

  std::string prefix_;
  MeasureSink& sink_;
};

}  // namespace cxloom

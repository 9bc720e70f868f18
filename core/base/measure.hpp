// How components hand over what they measured. Each measure is declared once, beside the component that takes
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/value.hpp"

namespace cxloom {

struct MeasureInfo;

/// The entries of a measure that is a map; none where channels, links, ... give them their names.
struct MeasureParts {
  const MeasureInfo* first = nullptr;
  std::size_t count = 0;
  bool by_name = false;  ///< a map of such entries for each component or direction, by its name

  const MeasureInfo* begin() const { return first; }
  const MeasureInfo* end() const;
};

struct MeasureInfo {
  std::string_view name;
  std::string_view unit;  ///< empty for a pure number
  std::string_view meaning;
  MeasureParts parts = {};
};

inline const MeasureInfo* MeasureParts::end() const { return first + count; }

class MeasureSink {
 public:
  virtual ~MeasureSink() = default;
  /// `measure` may be gone afterwards.
  virtual void add(const MeasureInfo& measure, double value) = 0;
  /// Adds a count.
  virtual void count(const MeasureInfo& measure, std::uint64_t value) = 0;
  /// Adds a value that is no number: a map, a list, a text.
  virtual void give(const MeasureInfo& measure, Value value) = 0;
};

/// Hands on the measures of a part (such as media within media) with a prefix, a literal, before their names.
class PrefixedSink final : public MeasureSink {
 public:
  PrefixedSink(std::string_view prefix, MeasureSink& sink) : prefix_(prefix), sink_(sink) {}

  void add(const MeasureInfo& measure, double value) override;
  void count(const MeasureInfo& measure, std::uint64_t value) override;
  void give(const MeasureInfo& measure, Value value) override;

 private:
  std::string_view prefix_;
  MeasureSink& sink_;
};

}  // namespace cxloom

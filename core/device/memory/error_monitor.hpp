// Counts the errors that a memory corrects, by part, and says which part has too many of them:
// docs/model/sparing.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "device/memory/corrected_errors_params.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/kernel.hpp"
#include "kernel/windowed.hpp"
#include "memory/memory_owner.hpp"

namespace cxloom {

class MeasureSink;

struct CorrectedErrorCounts {
  std::uint64_t errors = 0;
};

class ErrorMonitor final : public EventHandler {
 public:
  /// `spare` takes a part out of use. False: no spare part is left.
  using Spare = std::function<bool(const SparedPart& part)>;

  /// Throws InputError for a part that reaches beyond the memory.
  ErrorMonitor(const CorrectedErrorsParams& params, Kernel& kernel, const Component& owner, Bytes capacity,
               std::uint64_t seed, Spare spare);

  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::string name() const override { return owner_.name(); }
  /// An error of the part of that number.
  void wake(std::uint8_t kind, std::uint64_t number) override;

 private:
  struct Part {
    FaultyPartParams params;
    RandomStream random;
    std::uint32_t errors = 0;
  };

  void schedule(std::size_t number);

  Kernel& kernel_;
  EventSource source_;
  const Component& owner_;
  std::uint32_t threshold_;
  ErrorTimes times_;
  std::uint64_t lines_at_once_;
  Spare spare_;
  std::vector<Part> parts_;
  Windowed<CorrectedErrorCounts> counts_;
  std::uint64_t suspicious_ = 0;  // in the whole run
  std::uint64_t unspared_ = 0;    // of these
  Time reached_;                  // when they became so, in all
};

}  // namespace cxloom

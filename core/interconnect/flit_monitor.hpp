// What the flits of one direction of a link carry: slots by use and by class, flits by fill, errors and their cost.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/flit.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Of one measured window: flits that began in it.
struct FlitTotals {
  std::array<std::uint64_t, 4> flits{};                 ///< by FlitKind
  std::array<std::uint64_t, kSlotKindCount> slots{};    ///< by SlotKind
  std::array<std::uint64_t, kChannelCount> messages{};  ///< headers, by class
  /// Slots by class: data and trailers, and of each header slot the share of its messages.
  std::array<double, kChannelCount> slots_of_class{};
  std::array<std::uint64_t, kMostSlots + 1>
      fill{};                  ///< flits of CXL.cache and CXL.mem by slots that are not empty
  std::uint64_t io_bytes = 0;  ///< of CXL.io packets
  std::uint64_t errors = 0;    ///< flits corrupted beyond correction, each sent again
  Time retry_time;             ///< in which retries kept the wire from anything else
};

class FlitMonitor {
 public:
  explicit FlitMonitor(FlitMode mode) : mode_(mode) {}
  FlitMode mode() const { return mode_; }
  void open() {
    totals_ = {};
    measuring_ = true;
  }
  void close() { measuring_ = false; }
  const FlitTotals& totals() const { return totals_; }

  void count(const Flit& flit) {
    if (measuring_) add(flit);
  }
  /// Flits of link control: retry requests and their answers.
  void count_control(unsigned flits) {
    if (measuring_) totals_.flits[static_cast<std::size_t>(FlitKind::kControl)] += flits;
  }
  void count_retry(Time lost) {
    if (!measuring_) return;
    ++totals_.errors;
    totals_.retry_time += lost;
  }

 private:
  void add(const Flit& flit);

  FlitMode mode_;
  FlitTotals totals_;
  bool measuring_ = false;
};

}  // namespace cxloom

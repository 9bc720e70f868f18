// The flits of one direction of a link: slots by use and by class, flits by fill, errors and their cost.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/flit/flit.hpp"
#include "protocol/flit/isolated_flits.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Totals of the flits that began in one measured window.
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

  bool operator==(const FlitTotals&) const = default;
};

class FlitMonitor {
 public:
  explicit FlitMonitor(const FlitPacking& packing) : packing_(packing) {}
  FlitMode mode() const { return packing_.mode; }
  void open() {
    totals_ = {};
    of_class_ = {};
    measuring_ = true;
  }
  void close();
  /// The totals of the window that was closed.
  const FlitTotals& totals() const { return totals_; }

  void count(const Flit& flit) {
    if (measuring_) add(flit);
  }
  /// All the flits of a message that goes alone, in which it takes so many slots.
  void count_isolated(Channel channel, unsigned slots) {
    if (!measuring_) return;
    OfClass& own = of_class_[static_cast<std::size_t>(channel)];
    ++own.isolated;
    own.parts += kParts * slots;
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
  static constexpr std::uint64_t kParts = 60;  // up to six messages share a slot

  struct OfClass {
    std::uint64_t isolated =
        0;                    // messages that went alone, whose flits `totals_` does not have until the end
    std::uint64_t parts = 0;  // of slots, kParts each: messages share one
  };
  void add(const Flit& flit);

  FlitPacking packing_;
  bool measuring_ = false;
  std::array<OfClass, kChannelCount> of_class_{};
  FlitTotals totals_;
};

}  // namespace cxloom

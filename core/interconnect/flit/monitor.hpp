// The flits of one direction of a link: slots by use and by class, flits by fill, errors and their cost.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "kernel/windowed.hpp"
#include "protocol/flit/flit.hpp"
#include "protocol/flit/isolated_flits.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

struct FlitCounts {
  std::array<std::uint64_t, 4> flits{};                 ///< by FlitKind
  std::array<std::uint64_t, kSlotKindCount> slots{};    ///< by SlotKind
  std::array<std::uint64_t, kChannelCount> messages{};  ///< headers, by class
  std::array<std::uint64_t, kMostSlots + 1>
      fill{};                  ///< flits of CXL.cache and CXL.mem by slots that are not empty
  std::uint64_t io_bytes = 0;  ///< of CXL.io packets
  std::uint64_t errors = 0;    ///< flits corrupted beyond correction, each sent again
  Time retry_time;             ///< in which retries kept the wire from anything else

  bool operator==(const FlitCounts&) const = default;
};

/// The flits that began in the measured window.
struct FlitTotals : FlitCounts {
  /// Slots by class: data and trailers, and of each header slot the share of its messages.
  std::array<double, kChannelCount> slots_of_class{};

  bool operator==(const FlitTotals&) const = default;
};

class FlitMonitor {
 public:
  explicit FlitMonitor(const FlitPacking& packing) : packing_(packing) {}
  FlitMode mode() const { return packing_.mode; }
  void open(Time at) { counts_.open(at); }
  void close(Time at) { counts_.close(at); }
  FlitTotals totals() const;

  void count(const Flit& flit);
  /// All the flits of a message that goes alone, in which it takes so many slots.
  void count_isolated(Channel channel, unsigned slots) {
    const auto which = static_cast<std::size_t>(channel);
    ++counts_->isolated[which];
    counts_->parts[which] += kParts * slots;
  }
  /// Flits of link control: retry requests and their answers.
  void count_control(unsigned flits) {
    counts_->flits[static_cast<std::size_t>(FlitKind::kControl)] += flits;
  }
  void count_retry(Time lost) {
    ++counts_->errors;
    counts_->retry_time += lost;
  }

 private:
  static constexpr std::uint64_t kParts = 60;  // up to six messages share a slot

  /// Flits and slots without those of messages that went alone.
  struct Counts : FlitCounts {
    std::array<std::uint64_t, kChannelCount> isolated{};  ///< messages that went alone, by class
    std::array<std::uint64_t, kChannelCount> parts{};     ///< of slots, kParts each: messages share one
  };

  FlitPacking packing_;
  Windowed<Counts> counts_{OpenedByOwner{}};
};

}  // namespace cxloom

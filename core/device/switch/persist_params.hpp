// The parameters of a persist buffer, and the rules that it goes by.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// When the lines of a persist buffer are written to memory.
enum class DrainPolicy : std::uint8_t {
  kDrain,    ///< as soon as they are stored (PB)
  kForward,  ///< once many entries are Dirty: until then reads are answered from them (PB_RF)
};

/// Rules without which a persist buffer loses data or gives old ones: docs/model/persist.md says why. No spec can change them; tests
/// do, to show what they are for.
struct PersistRules {
  bool second_entry = true;   ///< a write to a line in Drain takes an entry of its own
  bool look_in_queue = true;  ///< a read waits behind a write of its line in the input queue
  bool answer_from_entries =
      true;  ///< a read is not answered by a write in the input queue, which may be lost
  bool empty_when_answered = true;  ///< an entry is Empty when its drain is answered, and not when it is sent
  bool answers_pass = true;         ///< an answer to a drain needs no turn in the input queue
  bool own_tags = true;             ///< a drain has a tag of the buffer's, and not that of the write
  bool masks = true;                ///< an entry knows which of its bytes were written
  bool same_ways = true;            ///< all ways to a line pass the same buffers
};

struct PersistBufferParams {
  static constexpr std::uint64_t kEntryBytes = 256;  ///< of the machine's memory, about

  std::uint32_t entries = 16;
  Time tag_time{388};
  Time data_time{785};
  DrainPolicy policy = DrainPolicy::kDrain;
  double drain_from = 0.8;
  double drain_to = 0.6;
  std::optional<std::uint32_t> queue;
  PersistRules rules;  ///< not of a spec

  static void describe(Schema<PersistBufferParams>& schema);

  /// A share of the entries, rounded down; what is no more than a rounding below the next number is that.
  std::uint32_t share(double fraction) const {
    return static_cast<std::uint32_t>(fraction * static_cast<double>(entries) + 1e-9);
  }
};

}  // namespace cxloom

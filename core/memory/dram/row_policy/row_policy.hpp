// The interface of row policies: when a row is closed that nobody has asked to close. A kind is a file of its
// own and a line in `register_row_policies`, or in the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <cstdint>

#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/timers.hpp"

namespace cxloom {

template <class Product, class Context>
class KindRegistry;

/// The surroundings of a row policy when it is made.
struct DramRowContext {
  DramClock clock;      ///< cycles of the command clock: all its times
  std::uint32_t banks;  ///< of all ranks of one sub-channel
};

class DramRowPolicy {
 public:
  virtual ~DramRowPolicy() = default;

  /// A row is opened.
  virtual void opened(std::uint32_t /*bank*/, std::uint32_t /*row*/) {}
  /// The open row is used; `again`: not for the first time since it was opened. Returns whether it is closed
  /// with this access (automatic precharge), if no other waits for it.
  virtual bool used(std::uint32_t bank, bool again, Clock now) = 0;

  /// Rows close some time after nobody wants them any more, at `close_at`.
  virtual bool times_out() const { return false; }
  virtual Clock close_at(std::uint32_t /*bank*/) const { return kNeverClock; }
};

using DramRowPolicyRegistry = KindRegistry<DramRowPolicy, DramRowContext>;

/// Registers the policies that come with cxloom.
void register_row_policies(DramRowPolicyRegistry& registry);

}  // namespace cxloom

// Recovery, played: the system comes up again, and its persist buffers write what they kept to memory.
#pragma once

#include <cstdint>
#include <functional>

#include "base/units.hpp"
#include "system/crash/durable_state.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

struct Registry;

/// Is called now and then while something is played that may take long. What it throws ends that.
using Look = std::function<void()>;
/// Events from one look to the next: some milliseconds.
inline constexpr std::uint64_t kBetweenLooks = 16'384;

class Recovery {
 public:
  Recovery(const Registry& registry, const Spec& spec, const RecoveryOrder& order = kRecoveryOrder)
      : registry_(registry), spec_(spec), order_(order) {}

  /// Brings the system up with what is left, and drains the entries by messages to memory: those that are
  /// near to their memory before those that are farther, and of a line one after the other. Nothing else goes
  /// on: neither the workload nor CXL.io has begun. `changed` sees each state that a loss of power during it
  /// would leave; what is under way then is gone. Gives how long it takes from the first drain to the last
  /// answer.
  Time play(
      const DurableState& left, const std::function<void(const DurableState&)>& changed,
      const Look& look = [] {}) const;

  const RecoveryOrder& order() const { return order_; }

 private:
  const Registry& registry_;
  Spec spec_;
  const RecoveryOrder& order_;
};

}  // namespace cxloom

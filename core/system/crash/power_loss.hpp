// The loss of power at an instant of a run: what recovery makes of what survives, and whether that may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "component/version_floor.hpp"
#include "system/crash/durable_state.hpp"
#include "system/crash/recovery_cuts.hpp"

namespace cxloom {

/// A line recovered to a version older than one acknowledged.
struct LostLine {
  LineAddress line;
  std::uint32_t recovered = 0;  ///< the version that memory has after recovery
  std::uint32_t needed = 0;     ///< the acknowledged version that stands against it
  BrokenRule rule = BrokenRule::kNone;
};

/// Lines that are lost if the power fails now, by what the order of recovery comes to: no recovery is played.
/// `system` keeps versions of lines (outputs.versions). In the order of their addresses. `lost`: the power
/// holds, and that switch is lost with its buffer.
std::vector<LostLine> lost_at_power_loss(const System& system, const RecoveryOrder& order = kRecoveryOrder,
                                         std::optional<NodeId> lost = {});

/// The switch of that name, which has a persist buffer. Throws InputError if it has none.
NodeId switch_with_buffer(const System& system, const std::string& name);

/// The outcome of a loss of power.
struct PowerLossFound {
  std::vector<LostLine> lost;  ///< after any of the recoveries
  RecoveryEnds recovery;
  bool one_end = true;  ///< recovery comes to what its order says, wherever it is cut
};

/// Lets the power fail in systems of one kind, and plays what follows.
class PowerLoss {
 public:
  PowerLoss(const Registry& registry, const Spec& spec, const RecoveryOrder& order = kRecoveryOrder)
      : recovery_(registry, spec, order), cuts_(recovery_) {}

  PowerLossFound at(const System& system, const CutChoice& cuts, std::optional<NodeId> lost = {});

 private:
  Recovery recovery_;
  RecoveryCuts cuts_;
};

}  // namespace cxloom

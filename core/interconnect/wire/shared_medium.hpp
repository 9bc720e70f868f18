// The role of a medium that several links share.
#pragma once

#include "component/roles.hpp"
#include "component/wire_monitor.hpp"

namespace cxloom {

/// A wire in each direction, or one for both, that several links share.
class SharedMedium {
 public:
  static constexpr RoleKind kRole = RoleKind::kSharedMedium;

  enum Direction : unsigned { kDownstream, kUpstream };

  /// It has no limit of bandwidth.
  virtual bool unlimited() const = 0;
  virtual WireMonitor& monitor(Direction direction) = 0;
  /// Turns of a medium that both directions share; null of full duplex.
  virtual WireMonitor* turns() = 0;

 protected:
  ~SharedMedium() = default;
};

}  // namespace cxloom

// The role of what manages the coherence of memory.
#pragma once

#include <optional>

#include "component/roles.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

struct CoherenceCounts;

/// Manages the coherence of memory, its own or that of other devices: regions may have it as their home.
class CoherenceHome {
 public:
  static constexpr RoleKind kRole = RoleKind::kCoherenceHome;

  /// The coherence of the regions whose home it may be.
  virtual Coherence coherence() const = 0;
  /// It may keep memory of other devices coherent, too.
  virtual bool serves_others() const = 0;
  /// What it counted in the window.
  virtual CoherenceCounts coherence_counts() const = 0;
  /// Requests in it, the mean over the window; none: it takes as many as come.
  virtual std::optional<double> transactions_mean() const = 0;

 protected:
  ~CoherenceHome() = default;
};

}  // namespace cxloom

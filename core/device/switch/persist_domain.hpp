// The role of what keeps writes on their way to memory so that they are durable: what the run and a power
// loss ask of it.
#pragma once

#include "component/roles.hpp"
#include "device/switch/persist_entries.hpp"
#include "protocol/request_observer.hpp"

namespace cxloom {

class PersistDomain {
 public:
  static constexpr RoleKind kRole = RoleKind::kPersistDomain;

  virtual const PersistEntries& entries() const = 0;
  /// Hears of what has been drained.
  virtual void report_drains_to(RequestObserver& observer) = 0;
  /// Recovery: from now on it takes nothing that comes.
  virtual void begin_recovery() = 0;
  /// Drains this line. It has an Empty entry, and none of the line.
  virtual void recover(const KeptLine& kept) = 0;

 protected:
  ~PersistDomain() = default;
};

}  // namespace cxloom

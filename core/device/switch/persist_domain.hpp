// The role of what keeps writes on their way to memory so that they are durable: what the run and a power
// loss ask of it.
#pragma once

#include <cstdint>

#include "component/roles.hpp"
#include "device/switch/persist_entries.hpp"
#include "protocol/request_observer.hpp"

namespace cxloom {

/// Hears of lines that leave persist buffers, as their memory is taken out of use.
class LinesLeaving {
 public:
  virtual ~LinesLeaving() = default;
  virtual void line_left() = 0;
};

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
  /// Lines of this memory are drained as soon as they may be from now on, and `leaving` hears of each that
  /// was.
  virtual void empty_of(NodeId memory, LinesLeaving& leaving) = 0;
  /// No longer.
  virtual void end_emptying(NodeId memory) = 0;
  /// Something has changed by which a drain that has failed may end otherwise.
  virtual void try_again() = 0;
  /// Lines that it has answered for, and that nobody gets as its switch has failed.
  virtual std::uint64_t lines_lost() const = 0;

 protected:
  ~PersistDomain() = default;
};

}  // namespace cxloom

// The roles of what makes CXL.io traffic, and of what answers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/roles.hpp"
#include "protocol/message.hpp"
#include "protocol/segment_sums.hpp"

namespace cxloom {

class DmaInitiator;
class EventHandler;
class IoRecord;
class LatencyDistribution;

/// Goes on when packets of CXL.io are lost on their way: component/failures.hpp.
class IoLosses {
 public:
  /// When it hears of a packet of its own that is lost now, or whose completion is.
  virtual Time hears_of_loss(const Message& message, Time now) = 0;
  /// It hears of it: nothing more comes of that packet. The request of a posted write goes back to
  /// `SystemContext::posted`.
  virtual void lose(Message& message) = 0;

 protected:
  ~IoLosses() = default;
};

/// Which way the data of CXL.io packets go.
enum class IoData : std::uint8_t {
  kOut,   ///< posted writes, which nothing answers
  kBack,  ///< reads, whose completions bring them
};

/// Makes CXL.io traffic. The request of a posted write (MWr) comes from `SystemContext::posted`. It is
/// unanswered; the receiver returns the request to `SystemContext::posted`.
class IoInitiator {
 public:
  static constexpr RoleKind kRole = RoleKind::kIoInitiator;

  /// Name of the device that it sends to.
  virtual const std::string& target() const = 0;
  /// Sends to `target`, which keeps a record of its posted writes: not for use before the run is over.
  virtual void aim(NodeId target, const IoRecord& arrived) = 0;
  /// Makes no more packets; those under way go on to their end.
  virtual void cease() = 0;
  /// Is woken, by an event of kind kCredited, for each posted write that its target has taken, when the
  /// credit for it is back. Null: it counts none.
  virtual EventHandler* credits() { return nullptr; }
  static constexpr std::uint8_t kCredited = 1;
  /// None: both ways, or it does not say.
  virtual std::optional<IoData> data() const { return std::nullopt; }
  /// Null: nothing may fail in a system with it.
  virtual IoLosses* losses() { return nullptr; }
  /// Packets under way. Only for a run that stands still: it looks at the target's record besides its own.
  virtual std::uint64_t outstanding() const = 0;

  /// Gives the measures of its traffic by name.
  virtual void report_io(MeasureSink& sink) const = 0;

  // The packets that ended in the window.
  virtual const LatencyDistribution& latency() const = 0;
  virtual SegmentSums::Sums segment_sums_ps() const = 0;

 protected:
  ~IoInitiator() = default;
};

/// Answers CXL.io. It returns the request of each posted write (MWr) that it receives to
/// `SystemContext::posted`.
class IoTarget {
 public:
  static constexpr RoleKind kRole = RoleKind::kIoTarget;

  /// CXL.io of that node will come here: to be called before the simulation starts. Keeps a record of its
  /// posted writes.
  virtual const IoRecord& expect_io(NodeId initiator) = 0;
  /// DMA requests of that node will come here, and access the memories of the address map: to be called
  /// before the simulation starts, behind all calls of `expect_io`.
  virtual void expect_dma(NodeId initiator, DmaInitiator& engine) = 0;

 protected:
  ~IoTarget() = default;
};

}  // namespace cxloom

// The role of what serves memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/roles.hpp"

namespace cxloom {

class ExternalMedia;
class Media;
class OutsideMedium;

/// What is copied to a spare part: bytes of the memory's own addresses, in whole lines.
struct SparedPart {
  Address base;
  std::uint64_t bytes = 0;
  std::uint64_t lines_at_once = 1;  ///< that are read, and then written, together

  bool overlaps(Address address, std::uint64_t size) const {
    return address.value() < base.value() + bytes && address.value() + size > base.value();
  }
};

/// A logical device: a part of a memory that belongs to one host, or to any.
struct LogicalDeviceExtent {
  Bytes base;
  Bytes capacity;
  std::optional<std::string> host;
};

/// Serves memory: the address map may lead to it.
class MemoryOwner {
 public:
  static constexpr RoleKind kRole = RoleKind::kMemoryOwner;

  /// Zero: it could have memory, and has none.
  virtual Bytes memory_capacity() const = 0;
  /// It has memory that serves any number of accesses at once, as far as is known.
  virtual bool memory_unlimited() const = 0;
  /// Gives the measures of its memory by name.
  virtual void report_memory(MeasureSink& sink) const = 0;
  /// Requests in it, over the time since the window opened: their number times picoseconds.
  virtual double memory_queue_integral(Time now) = 0;
  /// What stores its bytes; null if it has no memory, or does not show what it consists of.
  virtual Media* media() = 0;
  /// A request to it is there for so long at least, before it is answered, besides waiting.
  virtual Time least_time() const { return Time{}; }
  /// `outside` stores its bytes from now on, in the place of its media. To be called before the simulation
  /// starts. Null: it does not show what it consists of.
  virtual ExternalMedia* put_media_outside(OutsideMedium& /*outside*/) { return nullptr; }
  /// The part of it that answers writes before its media have them; empty: none does.
  virtual std::string answers_writes_early() const { return {}; }
  /// Its answers say how loaded it is (DevLoad).
  virtual bool reports_load() const { return false; }
  /// By LD-ID; none: it is one whole.
  virtual std::span<const LogicalDeviceExtent> logical_devices() const { return {}; }
  /// One of them belongs to that host. To be called before the simulation starts.
  virtual void set_host(std::size_t /*ld*/, NodeId /*host*/) {}

  /// Spare parts that can take the place of others.
  virtual std::uint32_t spares() const { return 0; }
  /// Some will be used: to be called before the simulation starts.
  virtual void expect_spares() {}
  /// One takes the place of this part, which is copied from now on. Only if that was expected.
  virtual void spare(const SparedPart& /*part*/) {}

  // Where its device may fail as a whole (docs/model/failures.md).

  /// It may, and be repaired.
  virtual bool may_fail() const { return false; }
  /// It may for good, with a device that makes requests besides.
  virtual bool may_crash() const { return false; }
  /// It will, maybe: to be called before the simulation starts.
  virtual void expect_failures() {}
  /// It works again, and a reset has cleared its volatile memory.
  virtual void contents_cleared() {}
  /// It is viral: it answers everything with an error from now on, and keeps no write.
  virtual void begin_viral() {}
  /// It is no more, as it was reset, which may have `cleared` its volatile memory.
  virtual void end_viral(bool /*cleared*/) {}
  /// The data of a line are lost.
  virtual bool contents_lost(LineAddress /*line*/) const { return false; }

 protected:
  ~MemoryOwner() = default;
};

}  // namespace cxloom

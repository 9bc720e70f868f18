// The roles that a component may play besides taking messages: what the builder, the run and the results must know of it. A
// component declares its roles when it is made, so that nobody asks what class it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/io_record.hpp"
#include "kernel/distribution.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"
#include "protocol/segment_sums.hpp"

namespace cxloom {

class EventHandler;
class Component;
class Media;
class Sequencer;
class WireMonitor;
class DynamicCapacity;
class PersistBuffer;
class VirtualSwitches;
struct CoherenceCounts;

/// A logical device: a part of a memory that belongs to one host, or to any.
struct LogicalDeviceExtent {
  Bytes base;
  Bytes capacity;
  std::optional<std::string> host;
};

/// Serves memory: the address map may lead to it.
class MemoryOwner {
 public:
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
  /// The part of it that answers writes before its media have them; empty: none does.
  virtual std::string answers_writes_early() const { return {}; }
  /// Its answers say how loaded it is (DevLoad).
  virtual bool reports_load() const { return false; }
  /// By LD-ID; none: it is one whole.
  virtual std::span<const LogicalDeviceExtent> logical_devices() const { return {}; }
  /// One of them belongs to that host. To be called before the simulation starts.
  virtual void set_host(std::size_t /*ld*/, NodeId /*host*/) {}

 protected:
  ~MemoryOwner() = default;
};

/// Manages the coherence of memory, its own or that of other devices: regions may have it as their home.
class CoherenceHome {
 public:
  /// The coherence of the regions whose home it may be.
  virtual Coherence coherence() const = 0;
  /// It may keep memory of other devices coherent, too.
  virtual bool serves_others() const = 0;
  /// What it counted in the window.
  virtual const CoherenceCounts& coherence_counts() const = 0;

 protected:
  ~CoherenceHome() = default;
};

/// Goes on when packets of CXL.io are lost on their way: component/failures.hpp.
class IoLosses {
 public:
  /// When it hears of a packet of its own that is lost now, or whose completion is.
  virtual Time hears_of_loss(const Message& message, Time now) = 0;
  /// It hears of it: nothing more comes of that packet. The request of a posted write goes back to `SystemContext::posted`.
  virtual void lose(Message& message) = 0;

 protected:
  ~IoLosses() = default;
};

/// Which way the data of CXL.io packets go.
enum class IoData : std::uint8_t {
  kOut,   ///< posted writes, which nothing answers
  kBack,  ///< reads, whose completions bring them
};

/// Makes CXL.io traffic. The request of a posted write (MWr) comes from `SystemContext::posted`. It is unanswered; the receiver returns
/// the request to `SystemContext::posted`.
class IoInitiator {
 public:
  /// Name of the device that it sends to.
  virtual const std::string& target() const = 0;
  /// Sends to `target`, which keeps a record of its posted writes: not for use before the run is over.
  virtual void aim(NodeId target, const IoRecord& arrived) = 0;
  /// Makes no more packets; those under way go on to their end.
  virtual void cease() = 0;
  /// Is woken, by an event of kind kCredited, for each posted write that its target has taken, when the credit for it is back. Null: it
  /// counts none.
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

  // Of the packets that ended in the window.
  virtual const LatencyDistribution& latency() const = 0;
  virtual SegmentSums::Sums segment_sums_ps() const = 0;

 protected:
  ~IoInitiator() = default;
};

/// Answers CXL.io. It returns the request of each posted write (MWr) that it receives to `SystemContext::posted`.
class IoTarget {
 public:
  /// CXL.io of that node will come here: to be called before the simulation starts. Keeps a record of its posted writes.
  virtual const IoRecord& expect_io(NodeId initiator) = 0;

 protected:
  ~IoTarget() = default;
};

/// A wire in each direction, or one for both, that several links share.
class SharedMedium {
 public:
  enum Direction : unsigned { kDownstream, kUpstream };

  /// It has no limit of bandwidth.
  virtual bool unlimited() const = 0;
  virtual WireMonitor& monitor(Direction direction) = 0;

 protected:
  ~SharedMedium() = default;
};

/// Has memory of dynamic capacity.
class DynamicMemory {
 public:
  virtual DynamicCapacity& dynamic_capacity() = 0;

 protected:
  ~DynamicMemory() = default;
};

/// Has virtual CXL switches.
class VirtualSwitching {
 public:
  virtual VirtualSwitches& virtual_switches() = 0;

 protected:
  ~VirtualSwitching() = default;
};

/// Who plays a role, in the order of the devices.
template <class Role>
class RoleTable {
 public:
  struct Entry {
    Component* component;
    Role* role;
  };

  void declare(Component& component, NodeId node, Role& role) {
    if (by_node_.size() <= node.index()) by_node_.resize(node.index() + 1);
    by_node_[node.index()] = &role;
    entries_.push_back({&component, &role});
  }
  /// Null: the component at that node does not play it.
  Role* of(NodeId node) const { return node.index() < by_node_.size() ? by_node_[node.index()] : nullptr; }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
  std::vector<Role*> by_node_;
};

/// The roles of all components of a system.
struct Roles {
  RoleTable<Sequencer> requesters;  ///< makes the requests of a workload
  RoleTable<MemoryOwner> memories;
  RoleTable<CoherenceHome> homes;
  RoleTable<IoInitiator> io_initiators;
  RoleTable<IoTarget> io_targets;
  RoleTable<SharedMedium> shared_media;
  RoleTable<VirtualSwitching> virtual_switches;
  RoleTable<DynamicMemory> dynamic_memories;
  RoleTable<PersistBuffer> persist_buffers;  ///< of switches
};

}  // namespace cxloom

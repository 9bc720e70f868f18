// Dynamic capacity of a memory: extents that come and go, each for a host, or shared.
// docs/model/dynamic_capacity.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "component/roles.hpp"
#include "kernel/exact_level.hpp"

namespace cxloom {

struct LogicalDeviceExtent;

/// A part of a memory that a host may use.
struct ExtentParams {
  Address base;
  Bytes size;
  std::string host;
  std::string tag;  ///< by which hosts share it; empty: it is the host's alone

  static void describe(Schema<ExtentParams>& schema);
};

struct DynamicCapacityParams {
  std::vector<ExtentParams> extents;

  static void describe(Schema<DynamicCapacityParams>& schema);
};

/// The extents of a memory. It can be copied, to try what is to happen.
class DynamicCapacity {
 public:
  explicit DynamicCapacity(const DynamicCapacityParams& params) : params_(params) {}

  /// Adds those of the beginning. Throws InputError below `extents`.
  void begin(Bytes capacity, std::span<const LogicalDeviceExtent> lds,
             const std::vector<std::pair<std::string, NodeId>>& hosts);
  /// From now on the host may use these addresses of the memory. Throws InputError for the key that is wrong.
  void add(const ExtentParams& extent, Time now);
  /// It may not any more: an extent that was added so.
  void release(const ExtentParams& extent, Time now);

  /// What a requester has for itself now, and its kernel for pages: what it shares is none of it.
  std::vector<std::pair<Address, Bytes>> extents_of(NodeId requester) const;
  /// All of an access lies in extents of the requester.
  bool holds(Address address, std::uint64_t size, NodeId requester) const;

  void open(Time at);
  void close(Time at);
  /// The mean bytes of each host's extents over the window.
  std::vector<std::pair<std::string, double>> means() const;

 private:
  struct Extent {
    std::uint64_t base;
    std::uint64_t size;
    std::size_t host;  // of the table
    std::string tag;
  };
  struct HostExtents {
    std::string name;
    NodeId node;
    ExactLevel bytes{};  // of its extents
  };

  std::size_t host_index(const std::string& name) const;
  /// The first extent that `extent` of this host overlaps and does not share; null: there is none.
  const Extent* in_the_way(const ExtentParams& extent, std::size_t host) const;

  DynamicCapacityParams params_;
  std::uint64_t capacity_ = 0;
  std::vector<std::uint64_t> borders_;  // of logical devices: where each begins
  std::vector<Extent> extents_;         // by base; of those that are shared, one for each host
  std::vector<HostExtents> hosts_;
};

/// Has memory of dynamic capacity.
class DynamicMemory {
 public:
  static constexpr RoleKind kRole = RoleKind::kDynamicMemory;

  virtual DynamicCapacity& dynamic_capacity() = 0;

 protected:
  ~DynamicMemory() = default;
};

}  // namespace cxloom

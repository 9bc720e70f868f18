#include "device/memory/dynamic_capacity.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "device/memory/extent_schema.hpp"
#include "memory/memory_owner.hpp"

namespace cxloom {

void ExtentParams::describe(Schema<ExtentParams>& schema) {
  schema.doc("A part of a memory that a host may use.");
  describe_extent(schema);
}

void DynamicCapacityParams::describe(Schema<DynamicCapacityParams>& schema) {
  schema.doc("Capacity that hosts have in extents, which come and go (a dynamic capacity device, DCD).");
  schema.field("extents", &DynamicCapacityParams::extents)
      .default_text("none")
      .doc("The extents that there are from the beginning. Events add and release others.");
}

void DynamicCapacity::begin(Bytes capacity, std::span<const LogicalDeviceExtent> lds,
                            const std::vector<std::pair<std::string, NodeId>>& hosts) {
  capacity_ = capacity.count();
  for (const LogicalDeviceExtent& ld : lds) borders_.push_back(ld.base.count());
  for (const auto& [name, node] : hosts) hosts_.push_back({name, node});
  for (std::size_t i = 0; i < params_.extents.size(); ++i)
    with_path("extents[" + std::to_string(i) + "]", [&] { add(params_.extents[i], Time{}); });
}

std::size_t DynamicCapacity::host_index(const std::string& name) const {
  const auto found = std::ranges::find(hosts_, name, &HostExtents::name);
  if (found != hosts_.end()) return static_cast<std::size_t>(found - hosts_.begin());
  std::vector<std::string> names;
  for (const HostExtents& host : hosts_) names.push_back(host.name);
  throw InputError({"not a device that makes requests of CXL.mem", "'" + name + "'", list_names(names),
                    nearest_name(name, names)},
                   "host");
}

void DynamicCapacity::add(const ExtentParams& extent, Time now) {
  const std::size_t host = host_index(extent.host);
  const std::uint64_t base = extent.base.value();
  const std::uint64_t size = extent.size.count();
  if (base > capacity_ || size > capacity_ - base)
    throw InputError({"the extent ends outside the memory",
                      to_text(extent.size) + " from " + to_text(extent.base),
                      "below its capacity, " + to_text(Bytes{capacity_}),
                      {}},
                     "size");
  const auto border = std::ranges::upper_bound(borders_, base);
  if (border != borders_.end() && *border - base < size)
    throw InputError({"the extent lies in two logical devices",
                      to_text(extent.size) + " from " + to_text(extent.base),
                      "one within ld " + std::to_string(border - borders_.begin() - 1) + ", which ends at " +
                          to_text(Address{*border}),
                      {}},
                     "size");
  if (const Extent* const other = in_the_way(extent, host)) {
    const bool shared = !extent.tag.empty() && extent.tag == other->tag;
    throw InputError(
        {shared && other->host == host ? "the host has the extent already"
         : shared                      ? "hosts share an extent as a whole"
                                       : "the extent overlaps another",
         to_text(extent.size) + " from " + to_text(extent.base),
         (shared ? "the same base and size as '" : "beside that of '") + hosts_[other->host].name + "', " +
             to_text(Bytes{other->size}) + " from " + to_text(Address{other->base}) +
             (shared ? "" : "; or the same extent, with one tag for both, which they share then"),
         {}},
        "base");
  }
  const auto next = std::ranges::upper_bound(extents_, base, {}, &Extent::base);
  extents_.insert(next, {base, size, host, extent.tag});
  hosts_[host].bytes.set(now, hosts_[host].bytes.level() + size);
}

const DynamicCapacity::Extent* DynamicCapacity::in_the_way(const ExtentParams& extent,
                                                           std::size_t host) const {
  const std::uint64_t base = extent.base.value();
  const std::uint64_t size = extent.size.count();
  const auto found = std::ranges::find_if(extents_, [&](const Extent& each) {
    const bool apart = each.base < base ? base - each.base >= each.size : each.base - base >= size;
    const bool same = each.base == base && each.size == size && each.host != host;
    return !apart && !(same && !each.tag.empty() && each.tag == extent.tag);
  });
  return found == extents_.end() ? nullptr : &*found;
}

void DynamicCapacity::release(const ExtentParams& extent, Time now) {
  const std::size_t host = host_index(extent.host);
  const auto found = std::ranges::find_if(extents_, [&](const Extent& each) {
    return each.base == extent.base.value() && each.size == extent.size.count() && each.host == host &&
           each.tag == extent.tag;
  });
  if (found == extents_.end())
    throw InputError({"there is no such extent",
                      to_text(extent.size) + " from " + to_text(extent.base),
                      "base, size, host and tag of one that was added",
                      {}});
  extents_.erase(found);
  hosts_[host].bytes.set(now, hosts_[host].bytes.level() - extent.size.count());
}

std::vector<std::pair<Address, Bytes>> DynamicCapacity::extents_of(NodeId requester) const {
  std::vector<std::pair<Address, Bytes>> extents;
  for (const Extent& extent : extents_) {
    if (hosts_[extent.host].node == requester && extent.tag.empty())
      extents.emplace_back(Address{extent.base}, Bytes{extent.size});
  }
  return extents;
}

bool DynamicCapacity::holds(Address address, std::uint64_t size, NodeId requester) const {
  auto next = std::ranges::upper_bound(extents_, address.value(), {}, &Extent::base);
  for (; next != extents_.begin(); --next) {
    const Extent& extent = *std::prev(next);
    const std::uint64_t offset = address.value() - extent.base;
    if (offset >= extent.size || size > extent.size - offset) return false;
    if (hosts_[extent.host].node == requester) return true;
    if (extent.tag.empty()) return false;  // else the one before may be the same, of another host
  }
  return false;
}

void DynamicCapacity::open(Time at) {
  for (HostExtents& host : hosts_) host.bytes.open(at);
}

void DynamicCapacity::close(Time at) {
  for (HostExtents& host : hosts_) host.bytes.close(at);
}

std::vector<std::pair<std::string, double>> DynamicCapacity::means() const {
  std::vector<std::pair<std::string, double>> means;
  for (const HostExtents& host : hosts_) means.emplace_back(host.name, host.bytes.mean());
  return means;
}

}  // namespace cxloom

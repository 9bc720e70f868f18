#include "device/memory/logical_device_params.hpp"

#include <limits>

#include "base/error.hpp"
#include "base/schema.hpp"

namespace cxloom {

void LogicalDeviceParams::describe(Schema<LogicalDeviceParams>& schema) {
  schema.doc("A logical device (LD) of a memory.");
  schema.field("capacity", &LogicalDeviceParams::capacity)
      .required()
      .min(Bytes{4096})
      .doc("Bytes of memory, behind those of the LDs before it.");
  schema.field("allocated_bandwidth", &LogicalDeviceParams::allocated_bandwidth)
      .min(1)
      .max(256)
      .doc(
          "The LD's weight where several have requests waiting for a place in the controller, in fractions "
          "of 256. What one leaves, the others share.")
      .source("CXL 3.x, QoS Allocated BW of an LD, recalled");
  schema.field("bandwidth_limit", &LogicalDeviceParams::bandwidth_limit)
      .doc(
          "Bytes per second that leave the LD's queue at most, read or written. What others delay its "
          "requests is made up for, within `limit_window`; of time without requests no more than one is "
          "saved up.")
      .source("CXL 3.x, QoS BW Limit of an LD, there as a fraction of 256; recalled");
  schema.field("limit_window", &LogicalDeviceParams::limit_window)
      .min(Time{0})
      .doc(
          "Over how long the limit is kept: what it would have let through while others, a refresh or a run "
          "of writes hold requests back is made up for, as much as in this time, and at least a request.")
      .source("CXL 3.x, Completion Collection Interval of an MLD: 64 ns by default, in 16 counters");
  schema.effective(
      "limit_window",
      [](const LogicalDeviceParams& params) { return !params.bandwidth_limit.rate.unlimited(); },
      "without bandwidth_limit");
  schema.field("queue", &LogicalDeviceParams::queue)
      .min(1)
      .default_text("unlimited")
      .doc(
          "Requests that wait in the LD's own queue; more wait in the port's receive buffer, hold their "
          "credits and stand in the way of other LDs.");
  schema.field("host", &LogicalDeviceParams::host)
      .default_text("any")
      .doc("The device that the LD belongs to; accesses of others are answered with an error.");
}

void check_logical_devices(const std::vector<LogicalDeviceParams>& all,
                           const std::optional<Bytes>& capacity) {
  if (all.size() > LogicalDeviceParams::kMost) {
    throw InputError({"too many logical devices: LD-IDs have 4 bits",
                      std::to_string(all.size()),
                      "at most " + std::to_string(LogicalDeviceParams::kMost),
                      {}},
                     "logical_devices");
  }
  Wide sum = 0;
  for (const LogicalDeviceParams& each : all) sum += each.capacity.count();
  const Bytes most = capacity.value_or(Bytes{std::numeric_limits<std::uint64_t>::max() / 2});
  if (sum <= most.count()) return;
  const bool sayable = sum <= std::numeric_limits<std::uint64_t>::max();
  throw InputError({"logical devices of more bytes than the memory",
                    sayable ? to_text(Bytes{static_cast<std::uint64_t>(sum)}) : "more than 16 EiB",
                    "at most " + to_text(most),
                    {}},
                   "logical_devices");
}

}  // namespace cxloom

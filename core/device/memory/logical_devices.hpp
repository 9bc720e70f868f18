// The logical devices (LDs) of a memory: parts of its capacity, each with a queue of its own in front of the
// controller, a share of its service by weight, and a limit of bandwidth.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fair_share.hpp"
#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "device/memory/logical_device_params.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

/// What is counted of one.
struct LogicalDeviceCounts {
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::uint64_t bytes = 0;
  Time waited;
};
struct LogicalDeviceMeasured : LogicalDeviceCounts {
  double bandwidth = 0;
  Value wait = {};
  double queue_mean = 0;
  double queue_max = 0;
};
inline constexpr std::array kLogicalDeviceMeasures{
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::requests>(
        "requests", "", "requests that left the queue of the LD in the window"),
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::refused>(
        "refused", "",
        "requests in the window that were answered with an error, because the LD belongs to another "
        "host; they do not queue"),
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::bandwidth>(
        "bandwidth_gb_per_s", "GB/s", "bytes of these requests, read or written / length of the window"),
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::wait>(
        "wait_ns", "ns",
        "time that these requests waited in front of the controller, mean; null if there were none"),
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::queue_mean>(
        "queue_mean", "", "requests waiting in front of the controller, mean over time"),
    measure<LogicalDeviceMeasured, &LogicalDeviceMeasured::queue_max>(
        "queue_max", "", "requests waiting in front of the controller, largest number"),
};

/// The server of what the queues let through.
class LogicalDeviceServer {
 public:
  /// A place is free for one more request.
  virtual bool has_place() const = 0;
  /// It leaves the queue of its LD now.
  virtual void take(Message& message) = 0;
  /// It comes from a host that does not own the LD.
  virtual void refuse(Message& message) = 0;
  /// Its receive buffer is free: it has a place in the queue of its LD.
  virtual void buffered(Message& message) = 0;

 protected:
  ~LogicalDeviceServer() = default;
};

class LogicalDevices final : public EventHandler {
 public:
  LogicalDevices(const std::vector<LogicalDeviceParams>& params, Kernel& kernel, const Component& device,
                 LogicalDeviceServer& server, WaitList& places);

  std::string name() const override { return device_.name(); }
  /// By LD-ID.
  const std::vector<LogicalDeviceExtent>& extents() const { return extents_; }
  void set_host(std::size_t ld, NodeId host) { devices_[ld].host = host; }

  /// A request comes in for the LD that it names.
  void arrive(Message& message);
  /// Lets through what may go now: a place is free.
  void serve();
  /// A request that was let through is answered.
  void answered(const Message& message) {
    --devices_[message.ld()].inside;
    --present_;
  }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// The memory has failed: gives away each request that waits, and whether it had a place in a queue.
  void abandon(const std::function<void(Message&, bool in_queue)>& give_up);
  /// Requests of the LD that are waiting or are not answered yet.
  std::uint64_t load_of(std::size_t ld) const { return devices_[ld].waiting + devices_[ld].inside; }

  /// Requests that wait in front of the controller.
  std::size_t waiting() const;
  /// A map for each LD, by its LD-ID.
  Value report() const;
  /// The limits of those that have one.
  void resources(ResourceSink& sink) const;

 private:
  struct Device final : public Waiter {
    Device(const LogicalDeviceParams& params, Kernel& kernel, const Component& device);
    const EventHandler& owner() const override { return component; }
    /// What the limit saved up before is gone.
    void begin_limit(Time at) {
      limit.restart();
      next = at;
    }

    const Component& component;
    FairShare::Flow flow;
    RateMeter limit;
    Time next;     ///< the limit lets its next request go then
    Time spacing;  ///< from its last one to that, by the limit
    Time window;   ///< what is made up for at most, of the time that others delay it
    std::optional<std::uint32_t> places;
    std::optional<NodeId> host;
    MessageQueue queue;    ///< with a place in it
    MessageQueue outside;  ///< in the receive buffer
    std::uint32_t taken = 0;
    std::uint64_t waiting = 0;  ///< in both
    std::uint64_t inside = 0;   ///< let through, and not answered yet
    bool joined = false;        ///< it is among those that wait for a place of the controller
    Windowed<LogicalDeviceCounts> counts;
    LevelMonitor level;
  };

  Device* next_in_turn(Time now);
  void let_through(Device& device, Time now);
  void wake_for_limits(Time now);

  Kernel& kernel_;
  EventSource source_;
  const Component& device_;
  LogicalDeviceServer& server_;
  WaitList& places_;
  std::vector<LogicalDeviceExtent> extents_;
  std::deque<Device> devices_;  // by LD-ID
  FairShare shares_;
  std::uint64_t present_ = 0;  // of all, waiting or not answered
  Time wake_at_{-1};           // when a limit lets something go, as was asked for
};

}  // namespace cxloom

// The measures of a memory controller.
#pragma once

#include <array>
#include <optional>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "device/memory/controller.hpp"
#include "device/memory/logical_devices.hpp"

namespace cxloom {

struct ControllerMeasured : ControllerCounts {
  double queue_mean = 0;
  double queue_p99 = 0;
  double queue_max = 0;
  std::optional<double> reads_mean;
  std::optional<double> reads_max;
  std::optional<double> writes_mean;
  std::optional<double> writes_max;
  bool buffers = false;
  bool has_extents = false;
  bool fails = false;
  std::optional<Value> extent_bytes;
  std::optional<Value> logical_devices;
  std::optional<Value> load;
};

inline constexpr std::array kControllerMeasures{
    measure<&ControllerMeasured::queue_mean>(
        "queue_mean", "", "requests in controller and media that are not answered yet, mean over time"),
    measure<&ControllerMeasured::queue_p99>(
        "queue_p99", "",
        "requests in controller and media that are not answered yet, 99th percentile over time"),
    measure<&ControllerMeasured::queue_max>(
        "queue_max", "", "requests in controller and media that are not answered yet, largest number"),
    measure<&ControllerMeasured::reads_mean>("read_places_mean", "",
                                             "places of read_buffer taken, mean over time"),
    measure<&ControllerMeasured::reads_max>("read_places_max", "",
                                            "places of read_buffer taken, largest number"),
    measure<&ControllerMeasured::writes_mean>("write_places_mean", "",
                                              "places of write_buffer taken, mean over time"),
    measure<&ControllerMeasured::writes_max>("write_places_max", "",
                                             "places of write_buffer taken, largest number"),
    measure<ControllerMeasured, &ControllerMeasured::buffer_hits, &ControllerMeasured::buffers>(
        "buffer_hits", "", "reads answered from write_buffer"),
    measure<ControllerMeasured, &ControllerMeasured::extent_errors, &ControllerMeasured::has_extents>(
        "extent_errors", "",
        "accesses outside the extents of their requesters, answered with an "
        "error. Absent without dynamic_capacity"),
    measure<ControllerMeasured, &ControllerMeasured::poison_delivered, &ControllerMeasured::fails>(
        "poison_delivered", "",
        "reads and atomic operations answered with poison, as a failure of the device has lost what it held. "
        "Absent unless it may fail"),
    measure<ControllerMeasured, &ControllerMeasured::viral_errors, &ControllerMeasured::fails>(
        "viral_errors", "",
        "requests answered with poison or an error as the device was viral. Absent unless it may fail"),
    measure<&ControllerMeasured::extent_bytes>(
        "extent_bytes", "B",
        "bytes of the extents of each requester, mean over time. Absent without dynamic_capacity"),
    measure<&ControllerMeasured::logical_devices>(
        "logical_devices", "", "measures of each logical device, by its LD-ID. Absent without them",
        parts_of<kLogicalDeviceMeasures>(true)),
    measure<&ControllerMeasured::load>("devload_mean", "",
                                       "DevLoad of its answers, mean: 0 light, 1 optimal, 2 moderate, 3 "
                                       "severe; null if there were none. Absent without qos"),
};

}  // namespace cxloom

// A system and its work as a person describes it, resolved: every device and link one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "base/period.hpp"
#include "base/value.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/wire/link_params.hpp"
#include "protocol/address_map.hpp"
#include "system/spec/event_params.hpp"
#include "system/spec/task_params.hpp"
#include "workload/placement/frame_order.hpp"
#include "workload/stream/rounds.hpp"
#include "workload/tiering/kernel_costs.hpp"
#include "workload/work.hpp"

namespace cxloom {

struct Registry;

/// When a run ends before its work does.
struct UntilParams {
  std::optional<double> ci;  ///< half of the 95 % interval of the mean latency / the mean

  static void describe(Schema<UntilParams>& schema);
};

/// Ways that messages to some devices take from a node, instead of the ones found.
struct RouteParams {
  std::string at;
  std::vector<std::string> to;
  std::vector<std::string> by;

  static void describe(Schema<RouteParams>& schema);
};

/// Threads that play one simulation.
struct ThreadCount {
  static constexpr std::string_view kSchemaType = "any";  ///< a number or "auto"
  static constexpr std::uint32_t kMost = 256;

  std::uint32_t count = 1;  ///< 0: as many as the machine has processors for this process
};
/// Throws InputError for what is neither a number in [1, kMost] nor "auto".
void read_value(const Value& value, ThreadCount& out);
std::string to_text(const ThreadCount& threads);

struct RunParams {
  std::uint64_t warmup = 0;
  std::optional<Time> warmup_time;
  std::uint64_t seed = 1;
  KindSpec routing{"deterministic", Value(Value::Map{})};
  RouteMetric route_by = RouteMetric::kHops;
  std::vector<RouteParams> routes;
  UntilParams until;
  std::uint64_t livelock_deliveries = 50'000'000;
  ThreadCount threads;

  static void describe(Schema<RunParams>& schema);
};

struct OutputParams {
  bool requests = false;
  std::optional<Time> series;
  bool commands = false;
  std::uint64_t mix_windows = 0;
  bool versions = false;
  bool sharing = false;

  static void describe(Schema<OutputParams>& schema);
};

/// When the pages of a pattern are touched first.
enum class Touched : std::uint8_t { kBefore, kDuring };

enum class Replay : std::uint8_t { kClosed, kTimestamps };

/// The settings of a workload besides its pattern.
struct WorkloadParams {
  std::optional<std::string> pattern;
  std::optional<std::string> trace;
  std::optional<std::uint64_t> requests;
  std::uint32_t threads = 1;      ///< of a pattern, or of phases
  bool shared_footprint = false;  ///< all of them go to all of it
  std::optional<Frequency> rate;
  Arrivals arrivals = Arrivals::kFixed;
  Replay replay = Replay::kClosed;
  std::optional<Period> tick;         ///< of whoever reads the trace, as are the levels and the format
  std::vector<std::uint64_t> levels;  ///< of the DRAM that the trace's coordinates are of
  std::optional<std::string> format;  ///< of the trace
  Rounds repeat;
  KindSpec addresses{"as-is", Value(Value::Map{})};
  Bytes page{4096};
  FrameLayout frames = FrameLayout::kScattered;
  Touched touched = Touched::kBefore;
  std::optional<KindSpec> page_tables;
  std::optional<KindSpec> tiering;
  KernelCosts kernel;
  std::vector<Value> phases;

  /// Its pages are placed: its addresses are not those of memory.
  bool places_pages() const { return addresses.kind != "as-is"; }

  static void describe(Schema<WorkloadParams>& schema);
};

struct Spec {
  struct Device {
    std::string name;
    KindSpec kinded;
  };
  struct Link {
    std::string a;
    std::string b;
    std::shared_ptr<const LinkParams> params;  ///< links that are written alike share them
  };
  struct Workload {
    std::string device;
    WorkloadParams params;
    Value pattern;  ///< the keys that belong to the pattern
  };

  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<RegionParams> regions;
  std::vector<Workload> workloads;
  TasksParams tasks;
  std::vector<EventParams> events;
  RunParams run;
  OutputParams outputs;

  /// Reads a resolved spec; throws InputError with the path of the offending key.
  static Spec read(const Value& value, const Registry& registry);
};

/// "links[3]".
std::string indexed(const std::string& key, std::size_t index);

/// Reads the entries of `links`. Parameters are read once for all links in a row that are written alike:
/// there may be very many.
class LinkReader {
 public:
  /// Throws InputError for what is no link.
  Spec::Link read(const Value& value);

 private:
  std::shared_ptr<const LinkParams> params_of(Value written);

  Value written_;
  std::shared_ptr<const LinkParams> params_;
};

/// Stricter than reading the parameters: a key of a workload must belong to the workload or to its pattern.
Spec::Workload read_workload(const std::string& device, const Value& value, const Registry& registry);
/// Reads a phase of a workload: a pattern with its keys, and `requests`.
Spec::Workload read_phase(const std::string& device, const Value& value, const Registry& registry);

}  // namespace cxloom

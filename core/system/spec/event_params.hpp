// What happens to a system during a run, as a person describes it: the section `events` of a spec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "device/switch/virtual_switches.hpp"

namespace cxloom {

/// What fails, or works again: links between two devices, or a device.
struct FailedPart {
  std::vector<std::string> link;
  std::optional<std::uint32_t> number;
  std::optional<std::string> device;

  /// "link sw0-mem1", "link sw0-mem1#2", "device sw2".
  std::string described() const;
};

struct FailParams : FailedPart {
  Time reroute_time{10'000'000};

  static void describe(Schema<FailParams>& schema);
};

struct RepairParams : FailedPart {
  bool cleared = false;
  bool restart = false;

  static void describe(Schema<RepairParams>& schema);
};

/// A device, or a logical device, comes to a virtual CXL switch.
struct BindParams : BoundParams {
  std::string switch_name;
  std::uint32_t vcs = 0;
  std::uint32_t vppb = 0;

  static void describe(Schema<BindParams>& schema);
};

/// It leaves.
struct UnbindParams {
  std::string switch_name;
  std::uint32_t vcs = 0;
  std::uint32_t vppb = 0;
  bool surprise = false;

  static void describe(Schema<UnbindParams>& schema);
};

/// An extent of a memory with dynamic capacity comes, or goes.
struct ExtentEventParams : ExtentParams {
  std::string device;

  static void describe(Schema<ExtentEventParams>& schema);
};

/// Pages of a program go to another memory.
struct MovePagesParams {
  std::string requester;
  std::string from;
  std::string to;
  double share = 1.0;
  std::optional<Address> base;
  std::optional<Bytes> size;
  std::optional<Bandwidth> rate;
  bool copy = true;

  static void describe(Schema<MovePagesParams>& schema);
};

/// A memory is taken out of use, so that it can be pulled out.
struct OfflineParams {
  std::string device;
  std::vector<std::string> to;
  std::optional<Bandwidth> rate;

  static void describe(Schema<OfflineParams>& schema);
};

/// A memory contains an error: it answers everything with an error.
struct ViralParams {
  std::string device;

  static void describe(Schema<ViralParams>& schema);
};

/// It is reset.
struct ResetParams {
  std::string device;
  bool cleared = false;

  static void describe(Schema<ResetParams>& schema);
};

/// A spare part of a memory takes the place of another.
struct SpareParams {
  std::string device;
  Address base;
  Bytes size{8192};
  Bytes buffer{64};

  static void describe(Schema<SpareParams>& schema);
};

struct EventParams {
  Time at;
  std::optional<FailParams> fail;
  std::optional<RepairParams> repair;
  std::optional<BindParams> bind;
  std::optional<UnbindParams> unbind;
  std::optional<ExtentEventParams> add_extent;
  std::optional<ExtentEventParams> release_extent;
  std::optional<MovePagesParams> move_pages;
  std::optional<OfflineParams> offline;
  std::optional<SpareParams> spare;
  std::optional<ViralParams> viral;
  std::optional<ResetParams> reset;

  /// Something fails by it, or works again.
  bool breaks_or_mends() const { return fail || repair || viral || reset; }
  /// "fail link sw0-mem1".
  std::string described() const;

  static void describe(Schema<EventParams>& schema);
};

/// Some event of the spec makes a link between these two devices fail.
bool may_fail(const std::vector<EventParams>& events, const std::string& a, const std::string& b);

/// The time of events that were put off: behind all that is of interest.
inline constexpr Time kPutOff{3'600'000'000'000'000};
/// Leaves failures and repairs alone, which are parts of a system that other parameters refer to, and puts
/// them off.
void put_off_failures(std::vector<EventParams>& events);

}  // namespace cxloom

// What can fill up, so that requests wait for it: queue slots, miss registers, banks, buses. Whatever has it
// declares it beside the parameter that bounds it. Tools that say what limits a system go by that alone, in
// devices of plug-ins as in ours (docs/explain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

/// Where it is on a request's way. The last full resource of a chain makes those before it full.
enum class Stage : std::uint8_t { kRequester, kCache, kWay, kPlaces, kMedia };

/// How its measures say how much of it is in use, in the unit of its capacity.
enum class Occupancy : std::uint8_t {
  kLevel,      ///< the mean number in use
  kShare,      ///< the share in use; the capacity is 1
  kBandwidth,  ///< gigabytes per second
  kRate,       ///< a number counted in the window: so many a second
  kHeld,     ///< numbers counted in the window, each of which holds one for the segments behind `wait` on its
             ///< way
  kTime,     ///< nanoseconds of the window in which none was left; of several the longest. The capacity is 1
  kRatio,    ///< how many of the second measure wanted one and found none (the first). The capacity is 1
  kWaiting,  ///< of segments: the share of `wait` in the time that requests spend at its place. The capacity
             ///< is 1
};

/// What takes it.
enum class Traffic : std::uint8_t { kRequests, kReads, kWrites, kLines, kMessages, kBytes };

/// A parameter and a value for it.
using Setting = std::pair<std::string, Value>;

struct Resource {
  std::string name;  ///< in words, before its owner: "the slots of"
  Stage stage;
  std::optional<double> capacity;  ///< none: no limit
  Occupancy occupancy;
  std::vector<std::string> measures;  ///< paths in a summary; `*` stands for the name of the device
  Segment wait;                       ///< what a request is charged with while it waits for it
  Traffic counts;
  std::string direction = {};  ///< of the traffic that counts; empty: both
  std::string_view part =
      {};  ///< of the device, whose parameters `twice` sets (device/kinds/parts.hpp); empty: the device
  std::vector<Setting> twice = {};  ///< what gives twice as much of it; empty: nothing is known to
  std::string twice_text = {};      ///< `twice` for people: "96 slots"
  double full_from = 0.97;          ///< in use by this share it is full
  std::string each = {};            ///< a measure: there are so many of it, of this capacity each; empty: one
  std::string remark = {};          ///< a measure that says more of it, a share; empty: none
  std::string remark_text = {};     ///< what that is a share of: "row hits"
};

class ResourceSink {
 public:
  virtual ~ResourceSink() = default;
  virtual void add(Resource resource) = 0;
};

/// What `count` things of a parameter are, twice.
Setting doubled(std::string path, std::uint64_t count);

/// Media that requests are seen to wait for, where no measure says how much of them is in use.
Resource waiting_for_media(std::string name);

/// Hands on resources of a part within another, such as media within a memory, with something before their
/// measures and parameters.
class ResourcesWithin final : public ResourceSink {
 public:
  ResourcesWithin(std::string_view measures, std::string_view parameters, ResourceSink& sink)
      : measures_(measures), parameters_(parameters), sink_(sink) {}

  void add(Resource resource) override;
  /// The part of the device to which it belongs.
  void of_part(std::string_view part) { part_ = part; }
  /// What stands behind its name: " the cache of".
  void owned_by(std::string_view owner) { owner_ = owner; }
  /// It has handed some on.
  bool any() const { return any_; }

 private:
  std::string_view measures_;
  std::string_view parameters_;
  std::string_view part_;
  std::string_view owner_;
  bool any_ = false;
  ResourceSink& sink_;
};

}  // namespace cxloom

// Which links of a system have failed, and which of them the routes avoid: what failures and repairs make of
// it, without a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cxloom {

/// What fails, or is repaired, by number: links, or a device with all its links.
struct FailingPart {
  std::vector<std::size_t> links;
  std::size_t device = kNone;
  static constexpr std::size_t kNone = ~std::size_t{0};
  bool operator==(const FailingPart&) const = default;
};

class LinkFailures {
 public:
  /// `ends`: of each link, its two devices.
  LinkFailures(std::vector<std::pair<std::size_t, std::size_t>> ends, std::size_t devices)
      : ends_(std::move(ends)), links_(ends_.size()), failed_devices_(devices) {}

  /// By an event with this number. Returns the links that have been up until now.
  std::vector<std::size_t> fail(const FailingPart& part, std::size_t event);
  /// This event becomes known. Returns the links that the routes are to avoid from now on: they have not been
  /// repaired since, and have not failed again.
  std::vector<std::size_t> discover(const FailingPart& part, std::size_t event);
  /// Returns the links that are up again, and on routes.
  std::vector<std::size_t> repair(const FailingPart& part);

  /// It has failed, or one of its devices, and nobody knows yet.
  bool undiscovered(std::size_t link) const { return links_[link].down && !links_[link].avoided; }
  bool anything_undiscovered() const;
  bool device_failed(std::size_t device) const { return failed_devices_[device]; }
  bool any_device_failed() const;
  /// By link: routes lead around it.
  std::vector<bool> avoided() const;

 private:
  struct State {
    bool failed = false;        ///< itself
    bool down = false;          ///< itself, or one of its devices
    bool avoided = false;       ///< routes lead around it
    std::size_t failed_by = 0;  ///< the event
  };

  bool is_down(std::size_t link) const {
    return links_[link].failed || failed_devices_[ends_[link].first] || failed_devices_[ends_[link].second];
  }

  std::vector<std::pair<std::size_t, std::size_t>> ends_;
  std::vector<State> links_;
  std::vector<bool> failed_devices_;
};

}  // namespace cxloom

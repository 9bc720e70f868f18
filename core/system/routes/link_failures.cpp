#include "system/routes/link_failures.hpp"

#include <algorithm>

namespace cxloom {

std::vector<std::size_t> LinkFailures::fail(const FailingPart& part, std::size_t event) {
  if (part.device == FailingPart::kNone) {
    for (const std::size_t link : part.links) links_[link].failed = true;
  } else {
    failed_devices_[part.device] = true;
  }
  std::vector<std::size_t> interrupted;
  for (const std::size_t link : part.links) {
    State& state = links_[link];
    if (state.down) continue;
    state.down = true;
    state.avoided = false;
    state.failed_by = event;
    interrupted.push_back(link);
  }
  return interrupted;
}

std::vector<std::size_t> LinkFailures::discover(const FailingPart& part, std::size_t event) {
  std::vector<std::size_t> found;
  for (const std::size_t link : part.links) {
    State& state = links_[link];
    if (!state.down || state.avoided || state.failed_by != event) continue;
    state.avoided = true;
    found.push_back(link);
  }
  return found;
}

std::vector<std::size_t> LinkFailures::repair(const FailingPart& part) {
  if (part.device == FailingPart::kNone) {
    for (const std::size_t link : part.links) links_[link].failed = false;
  } else {
    failed_devices_[part.device] = false;
  }
  std::vector<std::size_t> repaired;
  for (const std::size_t link : part.links) {
    if (!links_[link].down || is_down(link)) continue;
    links_[link].down = links_[link].avoided = false;
    repaired.push_back(link);
  }
  return repaired;
}

bool LinkFailures::anything_undiscovered() const {
  return std::ranges::any_of(links_, [](const State& link) { return link.down && !link.avoided; });
}

bool LinkFailures::any_device_failed() const {
  return std::ranges::find(failed_devices_, true) != failed_devices_.end();
}

std::vector<bool> LinkFailures::avoided() const {
  std::vector<bool> avoided;
  for (const State& link : links_) avoided.push_back(link.avoided);
  return avoided;
}

}  // namespace cxloom

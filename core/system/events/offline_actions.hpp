// Memories are taken out of use: events `offline`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "system/events/actions.hpp"
#include "system/events/removal.hpp"

namespace cxloom {

class AddressMap;
class Component;
class Kernel;
class System;

/// Throws InputError, at the event, if a memory is taken out of use by one.
void refuse_offline(const std::vector<EventParams>& events, const std::string& beside);

class OfflineActions final : public EventActions {
 public:
  /// `changed` is called when a memory that was to go is in use again.
  OfflineActions(const Kernel& kernel, System& system, std::function<void()> changed)
      : kernel_(kernel), system_(system), changed_(std::move(changed)) {}

  bool has(const EventParams& event) const override { return event.offline.has_value(); }
  void expect(std::size_t number, const EventParams& event) override;
  /// Whose pages they are is known with the work alone.
  void expect_work(const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;
  bool unsettled() const override;

  /// Null: the event of this number has not happened, or is another one.
  const Removal* removal(std::size_t number) const {
    const auto found = removals_.find(number);
    return found == removals_.end() ? nullptr : found->second.get();
  }

 private:
  const Component& memory_of(const OfflineParams& offline) const;
  void check_regions(const Component& memory) const;
  void check_devices(const Component& memory) const;
  std::vector<std::size_t> targets_of(const OfflineParams& offline, const MovablePages& pages,
                                      const AddressMap& map, const std::string& requester) const;
  static void check_room(const std::string& requester, const OfflineParams& offline, MovablePages& pages,
                         const std::vector<std::size_t>& to);

  const Kernel& kernel_;
  System& system_;
  std::function<void()> changed_;
  const OfflineParams* first_ = nullptr;  // no event is before it; null: it is of another sort
  std::map<std::size_t, std::unique_ptr<Removal>> removals_;  // by the number of the event
};

}  // namespace cxloom

// Devices come to virtual CXL switches, and leave them: events `bind` and `unbind`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device/switch/virtual_switches.hpp"
#include "system/events/actions.hpp"

namespace cxloom {

class System;

class BindingActions final : public EventActions {
 public:
  explicit BindingActions(System& system) : system_(system) {}

  bool has(const EventParams& event) const override { return event.bind || event.unbind; }
  void expect(std::size_t number, const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;
  /// There are other ways: homes let those have lines who reach them.
  void end_recalls() const;

 private:
  /// A requester reaches a home of coherent lines.
  struct Way {
    NodeId requester;
    NodeId home;
    bool operator==(const Way&) const = default;
  };

  void check_homes(const UnbindParams& unbind) const;
  std::vector<Way> ways_where(const std::function<bool(NodeId requester, NodeId home)>& there) const;
  /// The ways that there are now.
  std::vector<Way> ways() const;
  /// The ways that there would be if all links worked.
  std::vector<Way> bound() const;
  static std::vector<Way> without(std::vector<Way> ways, const std::vector<Way>& others);
  void cut_off(const Way& way) const;
  VirtualSwitches& virtual_switches_at(const std::string& name) const;

  System& system_;
  std::map<std::string, VirtualSwitches>
      expected_;  // by the name of the switch: behind what was expected so far
};

}  // namespace cxloom

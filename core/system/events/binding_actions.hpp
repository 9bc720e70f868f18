// Devices come to virtual CXL switches, and leave them: events `bind` and `unbind`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/switch/virtual_switches.hpp"
#include "system/events/actions.hpp"

namespace cxloom {

class System;

class BindingActions final : public EventActions {
 public:
  /// Homes refuse requests to memory that is not bound yet.
  explicit BindingActions(System& system);

  bool has(const EventParams& event) const override { return event.bind || event.unbind; }
  void expect(std::size_t number, const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;
  bool unsettled() const override { return homes_recall_; }
  /// There are other ways: homes let those have lines who reach them.
  void end_recalls() const;

 private:
  /// From a cache to the home of its lines, or from a home to memory that it keeps coherent.
  struct Way {
    NodeId from;
    NodeId to;
    bool there;  ///< by the routes that there are
    bool bound;  ///< it would be there if all links worked
  };
  struct Ways {
    std::vector<Way> to_homes;
    std::vector<Way> to_memories;
  };

  void check_caches(const UnbindParams& unbind) const;
  Ways ways() const;
  static std::vector<Way> lost(const std::vector<Way>& before, const std::vector<Way>& after);
  void cut_off(const Way& way) const;
  VirtualSwitches& virtual_switches_at(const std::string& name) const;

  System& system_;
  bool homes_recall_ = false;  // lines, or hand them out again
  std::map<std::string, VirtualSwitches>
      expected_;  // by the name of the switch: behind what was expected so far
};

}  // namespace cxloom

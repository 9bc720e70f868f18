// Memories contain an error by viral, and are reset: events `viral` and `reset`.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "system/events/actions.hpp"

namespace cxloom {

class Kernel;
class MemoryOwner;
class System;

class ViralActions final : public EventActions {
 public:
  ViralActions(const Kernel& kernel, System& system) : kernel_(kernel), system_(system) {}

  bool has(const EventParams& event) const override { return event.viral || event.reset; }
  void expect(std::size_t number, const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;
  bool unsettled() const override { return homes_hear_; }

 private:
  MemoryOwner& memory_of(const std::string& device) const;

  const Kernel& kernel_;
  System& system_;
  std::set<std::string> viral_;  // behind what was expected so far
  bool homes_hear_ = false;      // of what their memory does not keep
};

}  // namespace cxloom

// Extents of memories with dynamic capacity come and go: events `add_extent` and `release_extent`.
#pragma once

#include <map>
#include <string>

#include "device/memory/dynamic_capacity.hpp"
#include "system/events/actions.hpp"

namespace cxloom {

class Kernel;
class System;

class ExtentActions final : public EventActions {
 public:
  ExtentActions(const Kernel& kernel, System& system) : kernel_(kernel), system_(system) {}

  bool has(const EventParams& event) const override { return event.add_extent || event.release_extent; }
  void expect(std::size_t number, const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;

 private:
  DynamicCapacity& capacity_of(const std::string& name) const;

  const Kernel& kernel_;
  System& system_;
  std::map<std::string, DynamicCapacity>
      expected_;  // by the name of the memory: behind what was expected so far
};

}  // namespace cxloom

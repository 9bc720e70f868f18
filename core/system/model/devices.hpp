// The devices of a system, by node and by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class Component;

class Devices {
 public:
  Devices();
  ~Devices();

  /// The node of a device is its place in the order of these calls.
  Component& add(std::unique_ptr<Component> made);
  /// Throws InputError, with the names nearest to it, if there is no such device.
  NodeId find(const std::string& name) const;
  Component& component(const std::string& name) const { return *all_[find(name).index()]; }
  const std::vector<std::unique_ptr<Component>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<Component>> all_;
  std::map<std::string, NodeId> ids_;
};

}  // namespace cxloom

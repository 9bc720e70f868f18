#include "system/model/devices.hpp"

#include <utility>

#include "base/error.hpp"
#include "component/component.hpp"

namespace cxloom {

Devices::Devices() = default;
Devices::~Devices() = default;

Component& Devices::add(std::unique_ptr<Component> made) {
  ids_.emplace(made->name(), NodeId{static_cast<std::uint32_t>(all_.size())});
  return *all_.emplace_back(std::move(made));
}

NodeId Devices::find(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, id] : ids_) names.push_back(known);
  constexpr std::size_t kMaxListed = 20;
  const std::string nearest = nearest_name(name, names);
  if (names.size() > kMaxListed) names.resize(kMaxListed), names.emplace_back("...");
  throw InputError({"unknown device", "'" + name + "'", list_names(names), nearest});
}

}  // namespace cxloom

#include "device/virtual_switches.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/schema.hpp"

namespace cxloom {

void VcsParams::describe(Schema<VcsParams>& schema) {
  schema.doc("A virtual CXL switch: an upstream port, and places (vPPBs) for devices at downstream ports.");
  schema.field("upstream", &VcsParams::upstream)
      .required()
      .doc(
          "The device, linked to the switch, that the upstream port leads to: a host, or what leads to "
          "hosts.");
  schema.field("vppbs", &VcsParams::vppbs)
      .min(1)
      .max(256)
      .doc("How many devices may be bound at the same time.")
      .source("own choice of the default; CXL 3.x, chapter 7: up to 256 ports of a physical switch");
  schema.field("bind", &VcsParams::bind)
      .default_text("none")
      .doc("The devices, linked to the switch, that are bound from the beginning: to vPPB 0, 1, ...");
  schema.rule(
      "more devices than vPPBs", [](const VcsParams& vcs) { return vcs.bind.size() <= vcs.vppbs; }, "bind");
}

void VirtualSwitches::connect(const std::vector<Neighbour>& neighbours) {
  for (const Neighbour& each : neighbours) {
    names_.push_back(each.name);
    serves_.push_back(each.serves);
  }
  owner_.assign(names_.size(), kNobody);
  gone_.assign(names_.size(), std::vector<bool>(params_.size(), false));
  for (std::uint32_t i = 0; i < params_.size(); ++i) {
    const std::string& upstream = params_[i].upstream;
    below("vcs[" + std::to_string(i) + "].upstream", [&] {
      if (std::ranges::find(names_, upstream) == names_.end())
        throw InputError({"no link of the switch leads there", "'" + upstream + "'", list_names(names_),
                          nearest_name(upstream, names_)});
      for (std::size_t port = 0; port < names_.size(); ++port) {
        if (names_[port] != upstream) continue;
        if (!neighbours[port].requests)
          throw InputError({"an upstream port leads to who makes requests",
                            "'" + upstream + "'",
                            "a host or an accelerator, or a bus or switch that leads to one",
                            {}});
        if (owner_[port] != kNobody)
          throw InputError({"upstream of two virtual switches", "'" + upstream + "'", "one of them", {}});
        owner_[port] = i;
      }
    });
  }
  for (std::uint32_t i = 0; i < params_.size(); ++i) {
    places_.emplace_back(params_[i].vppbs);
    for (std::uint32_t place = 0; place < params_[i].bind.size(); ++place) {
      try {
        bind({i, place}, params_[i].bind[place]);
      } catch (const InputError& error) {
        throw InputError(error.detail(),
                         "vcs[" + std::to_string(i) + "].bind[" + std::to_string(place) + "]");
      }
    }
  }
}

void VirtualSwitches::check(const Vppb& place) const {
  if (place.vcs >= params_.size())
    throw InputError({"there is no such virtual switch",
                      std::to_string(place.vcs),
                      "below " + std::to_string(params_.size()),
                      {}},
                     "vcs");
  if (place.vppb >= params_[place.vcs].vppbs)
    throw InputError({"there is no such vPPB",
                      std::to_string(place.vppb),
                      "below " + std::to_string(params_[place.vcs].vppbs),
                      {}},
                     "vppb");
}

void VirtualSwitches::bind(const Vppb& place, const std::string& device) {
  check(place);
  std::string& there = places_[place.vcs][place.vppb];
  if (!there.empty())
    throw InputError(
        {"a device is bound to this vPPB", "'" + there + "'", "a free one, or unbind it before", {}}, "vppb");
  if (std::ranges::find(names_, device) == names_.end())
    throw InputError({"no link of the switch leads there", "'" + device + "'", list_names(names_),
                      nearest_name(device, names_)},
                     "to");
  for (std::size_t port = 0; port < names_.size(); ++port) {
    if (names_[port] != device) continue;
    if (!serves_[port])
      throw InputError({"a device without memory",
                        "'" + device + "'",
                        "a memory or an accelerator, or a bus or switch that leads to one",
                        {}},
                       "to");
    if (owner_[port] == kNobody) continue;
    const std::uint32_t owner = owner_[port];
    const bool upstream = params_[owner].upstream == device;
    throw InputError({upstream ? "the device is at an upstream port" : "the device is bound already",
                      "'" + device + "', of vcs " + std::to_string(owner),
                      upstream ? "a device at a downstream port" : "one that is not bound: unbind it before",
                      {}},
                     "to");
  }
  there = device;
  for (std::size_t port = 0; port < names_.size(); ++port) {
    if (names_[port] != device) continue;
    owner_[port] = place.vcs;
    gone_[port][place.vcs] = false;
  }
}

void VirtualSwitches::unbind(const Vppb& place, bool surprise) {
  check(place);
  std::string& there = places_[place.vcs][place.vppb];
  if (there.empty())
    throw InputError({"nothing is bound to this vPPB", std::to_string(place.vppb), "one with a device", {}},
                     "vppb");
  for (std::size_t port = 0; port < names_.size(); ++port) {
    if (names_[port] != there) continue;
    owner_[port] = kNobody;
    gone_[port][place.vcs] = surprise;
  }
  there.clear();
}

}  // namespace cxloom

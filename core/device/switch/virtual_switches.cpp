#include "device/switch/virtual_switches.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

std::vector<std::string> names_of(const std::vector<VirtualSwitches::Neighbour>& neighbours) {
  std::vector<std::string> names;
  for (const auto& each : neighbours) names.push_back(each.name);
  return names;
}

}  // namespace

void VirtualSwitches::connect(std::vector<Neighbour> neighbours) {
  neighbours_ = std::move(neighbours);
  const std::vector<std::string> names = names_of(neighbours_);
  std::array<std::uint32_t, kLds> nobody{};
  nobody.fill(kNobody);
  owner_.assign(names.size(), nobody);
  gone_.assign(names.size(), std::vector<LdSet>(params_.size(), 0));
  left_ = gone_;
  for (std::uint32_t i = 0; i < params_.size(); ++i) {
    const std::string& upstream = params_[i].upstream;
    with_path("vcs[" + std::to_string(i) + "].upstream", [&] {
      if (std::ranges::find(names, upstream) == names.end())
        throw InputError({"no link of the switch leads there", "'" + upstream + "'", list_names(names),
                          nearest_name(upstream, names)});
      for (std::size_t port = 0; port < names.size(); ++port) {
        if (names[port] != upstream) continue;
        if (!neighbours_[port].requests)
          throw InputError({"an upstream port leads to who makes requests",
                            "'" + upstream + "'",
                            "a host or an accelerator, or a bus or switch that leads to one",
                            {}});
        if (owner_[port][0] != kNobody)
          throw InputError({"upstream of two virtual switches", "'" + upstream + "'", "one of them", {}});
        owner_[port].fill(i);
      }
    });
  }
  for (std::uint32_t i = 0; i < params_.size(); ++i) {
    places_.emplace_back(params_[i].vppbs);
    for (std::uint32_t place = 0; place < params_[i].bind.size(); ++place) {
      try {
        bind({i, place}, params_[i].bind[place]);
      } catch (const InputError& error) {
        const std::string key = error.path() == "ld" ? ".ld" : "";  // `to` need not be written
        throw InputError(error.detail(),
                         "vcs[" + std::to_string(i) + "].bind[" + std::to_string(place) + "]" + key);
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

// An LD-ID that there is, of a device that may have one.
void VirtualSwitches::check_logical_device(const Neighbour& neighbour, const BoundParams& bound) const {
  if (neighbour.logical_devices == 0)
    throw InputError({"a device without logical devices, where ld names one of them",
                      "'" + bound.to + "'",
                      "no ld, or a memory with logical_devices",
                      {}},
                     "ld");
  if (*bound.ld >= neighbour.logical_devices)
    throw InputError({"'" + bound.to + "' has " + counted(neighbour.logical_devices, "logical device"),
                      std::to_string(*bound.ld),
                      "0 to " + std::to_string(neighbour.logical_devices - 1),
                      {}},
                     "ld");
}

// Nothing of it is bound, and it is not upstream.
void VirtualSwitches::check_free(std::size_t port, const BoundParams& bound) const {
  for (std::uint8_t ld = 0; ld < kLds; ++ld) {
    const std::uint32_t owner = owner_[port][ld];
    if (!has(lds_of(bound), ld) || owner == kNobody) continue;
    const std::string of = ", of vcs " + std::to_string(owner);
    if (params_[owner].upstream == bound.to)
      throw InputError({"the device is at an upstream port",
                        "'" + bound.to + "'" + of,
                        "a device at a downstream port",
                        {}},
                       "to");
    const auto there = std::ranges::find_if(places_[owner], [&](const auto& place) {
      return place && place->to == bound.to && has(lds_of(*place), ld);
    });
    ensure(there != places_[owner].end(), "a port that nothing is bound to belongs to a virtual switch");
    const bool one_of_it = (*there)->ld.has_value();
    const char* const wanted = one_of_it  ? bound.ld ? "the logical device" : "a logical device of it"
                               : bound.ld ? "the whole device"
                                          : "the device";
    throw InputError({std::string(wanted) + " is bound already",
                      "'" + (*there)->described() + "'" + of,
                      one_of_it && !bound.ld ? "all of its logical devices free: unbind them before"
                                             : "one that is not bound: unbind it before",
                      {}},
                     one_of_it && bound.ld ? "ld" : "to");
  }
}

std::vector<std::size_t> VirtualSwitches::ports_to(const std::string& device) const {
  std::vector<std::size_t> ports;
  for (std::size_t port = 0; port < neighbours_.size(); ++port) {
    if (neighbours_[port].name == device) ports.push_back(port);
  }
  return ports;
}

VirtualSwitches::LdSet VirtualSwitches::bound_of(const std::string& device) const {
  LdSet bound = 0;
  for (const auto& places : places_) {
    for (const auto& place : places) {
      if (place && place->to == device) bound |= lds_of(*place);
    }
  }
  return bound;
}

bool VirtualSwitches::may_finish(std::uint16_t input, std::uint16_t output, std::uint8_t ld) const {
  for (std::uint32_t vcs = 0; vcs < params_.size(); ++vcs) {
    if (knows(input, vcs, ld) && knows(output, vcs, ld)) return true;
  }
  return false;
}

void VirtualSwitches::give(std::size_t port, LdSet lds, std::uint32_t vcs) {
  for (std::uint8_t ld = 0; ld < kLds; ++ld) {
    if (has(lds, ld)) owner_[port][ld] = vcs;
  }
}

void VirtualSwitches::bind(const Vppb& place, const BoundParams& bound) {
  check(place);
  std::optional<BoundParams>& there = places_[place.vcs][place.vppb];
  if (there)
    throw InputError({"a device is bound to this vPPB",
                      "'" + there->described() + "'",
                      "a free one, or unbind it before",
                      {}},
                     "vppb");
  const std::vector<std::size_t> ports = ports_to(bound.to);
  if (ports.empty()) {
    const std::vector<std::string> names = names_of(neighbours_);
    const char* const where = bound.ld ? ": a logical device is bound at the switch that its memory hangs "
                                         "on, as messages have an LD-ID on the link of an MLD alone "
                                         "(CXL 3.x, section 2.5)"
                                       : "";
    throw InputError({"no link of the switch leads there", "'" + bound.to + "'", list_names(names) + where,
                      nearest_name(bound.to, names)},
                     "to");
  }
  for (const std::size_t port : ports) {
    if (!neighbours_[port].is_device)
      throw InputError({"a host without memory",
                        "'" + bound.to + "'",
                        "a memory or an accelerator, or a bus or switch that leads to one",
                        {}},
                       "to");
    if (bound.ld) check_logical_device(neighbours_[port], bound);
    check_free(port, bound);
  }
  there = bound;
  for (const std::size_t port : ports) {
    give(port, lds_of(bound), place.vcs);
    for (auto* const out : {&gone_, &left_}) (*out)[port][place.vcs] &= static_cast<LdSet>(~lds_of(bound));
  }
}

void VirtualSwitches::unbind(const Vppb& place, bool surprise) {
  check(place);
  std::optional<BoundParams>& there = places_[place.vcs][place.vppb];
  if (!there)
    throw InputError({"nothing is bound to this vPPB", std::to_string(place.vppb), "one with a device", {}},
                     "vppb");
  for (const std::size_t port : ports_to(there->to)) {
    give(port, lds_of(*there), kNobody);
    (surprise ? gone_ : left_)[port][place.vcs] |= lds_of(*there);
  }
  there.reset();
}

}  // namespace cxloom

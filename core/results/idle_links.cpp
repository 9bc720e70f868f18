#include "results/idle_links.hpp"

#include <map>

#include "interconnect/link/end.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// Parallel links, by name.
struct Parallel {
  std::vector<std::string> busy;
  std::vector<std::string> idle;
  bool bundled = false;
};

constexpr const char* kOfBundle =
    "of bundled ports, messages about one block of 256 B keep to one, whatever run.routing is, and CXL.io to "
    "the first";
constexpr const char* kOfParallel =
    "of parallel links, messages about one line keep to one, and so do CXL.io and what run.routing sends one "
    "way";

std::string listed(const std::vector<std::string>& names) {
  std::string text = names[0];
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace

std::vector<std::string> notes_on_idle_links(const System& system) {
  std::vector<bool> down(system.links().size(), false);
  std::vector<bool> bundled(system.links().size(), false);
  for (std::uint32_t node = 0; node < system.topology().size(); ++node) {
    for (const Topology::Hop& hop : system.topology().hops(node)) {
      down[hop.link] = hop.down;
      bundled[hop.link] = hop.bundled;
    }
  }
  std::map<std::string, Parallel> ways;  // by direction, which has one name in parallel links
  for (std::size_t i = 0; i < system.links().size(); ++i) {
    const System::LinkView& link = system.links()[i];
    if (down[i]) continue;
    for (const LinkEnd* end : {link.forward, link.backward}) {
      Parallel& way = ways[end->name()];
      (end->monitor().closed_totals().messages > 0 ? way.busy : way.idle).push_back(link.name);
      way.bundled = bundled[i];
    }
  }
  std::vector<std::string> notes;
  for (const auto& [name, way] : ways) {
    if (way.busy.empty() || way.idle.empty()) continue;
    notes.push_back(listed(way.idle) + " carried nothing " + name + ", where " + listed(way.busy) +
                    (way.busy.size() > 1 ? " carry" : " carries") +
                    " all: " + (way.bundled ? kOfBundle : kOfParallel));
  }
  return notes;
}

}  // namespace cxloom

#include "results/idle_links.hpp"

#include <map>

#include "interconnect/link/end.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// Parallel links, by name.
struct Bundle {
  std::vector<std::string> busy;
  std::vector<std::string> idle;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text = names[0];
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace

std::vector<std::string> notes_on_idle_links(const System& system) {
  std::vector<bool> down(system.links().size(), false);
  for (std::uint32_t node = 0; node < system.topology().size(); ++node)
    for (const Topology::Hop& hop : system.topology().hops(node)) down[hop.link] = hop.down;
  std::map<std::string, Bundle> bundles;  // by direction, which has one name in parallel links
  for (std::size_t i = 0; i < system.links().size(); ++i) {
    const System::LinkView& link = system.links()[i];
    if (down[i]) continue;
    for (const LinkEnd* end : {link.forward, link.backward}) {
      Bundle& bundle = bundles[end->name()];
      (end->monitor().closed_totals().messages > 0 ? bundle.busy : bundle.idle).push_back(link.name);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [way, bundle] : bundles) {
    if (bundle.busy.empty() || bundle.idle.empty()) continue;
    notes.push_back(listed(bundle.idle) + " carried nothing " + way + ", where " + listed(bundle.busy) +
                    (bundle.busy.size() > 1 ? " carry" : " carries") +
                    " all: of parallel links, messages about one line keep to one, and so do CXL.io and what "
                    "run.routing sends one way");
  }
  return notes;
}

}  // namespace cxloom

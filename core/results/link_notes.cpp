#include "results/link_notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "interconnect/flit/monitor.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/wire/flit_errors.hpp"
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

/// The two devices of a link, whichever comes first.
std::uint64_t joined_by(const System::LinkView& link) {
  const std::uint64_t a = link.forward->owner().id().index();
  const std::uint64_t b = link.forward->receiver().id().index();
  return std::min(a, b) << 32U | std::max(a, b);
}

/// By link: whether another one joins the same devices. Of many links few are such, or none.
std::vector<bool> parallel_links(const System& system) {
  std::vector<std::uint64_t> pairs;
  pairs.reserve(system.links().size());
  for (const System::LinkView& link : system.links()) pairs.push_back(joined_by(link));
  std::ranges::sort(pairs);
  std::vector<bool> parallel;
  parallel.reserve(pairs.size());
  for (const System::LinkView& link : system.links())
    parallel.push_back(std::ranges::equal_range(pairs, joined_by(link)).size() > 1);
  return parallel;
}

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
  const std::vector<bool> parallel = parallel_links(system);
  std::map<std::string, Parallel> ways;  // by direction, which has one name in parallel links
  for (std::size_t i = 0; i < system.links().size(); ++i) {
    const System::LinkView& link = system.links()[i];
    if (down[i] || !parallel[i]) continue;
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

namespace {

/// Flits of the window on the links of one setting of errors.
struct Met {
  std::string first;  ///< a link that has it
  std::uint64_t links = 0;
  std::uint64_t flits = 0;
  std::uint64_t errors = 0;
  double expected = 0.0;  ///< errors of these flits, by the bit error rate
};

/// Bit error rate, and every how many-th flit is corrupted.
using LinkSetting = std::pair<double, std::optional<std::uint32_t>>;

std::map<LinkSetting, Met> met_by_setting(const System& system) {
  std::map<LinkSetting, Met> found;
  for (const System::LinkView& link : system.links()) {
    const LinkErrorParams& errors = link.params->errors;
    if (errors.bit_error_rate == 0.0 && !errors.every) continue;
    Met& met = found[{errors.bit_error_rate, errors.every}];
    if (met.links++ == 0) met.first = link.name;
    for (const LinkEnd* const end : {link.forward, link.backward}) {
      const FlitMonitor* const monitor = end->flits();
      if (monitor == nullptr) continue;
      const FlitTotals totals = monitor->totals();
      const std::uint64_t flits = std::reduce(totals.flits.begin(), totals.flits.end());
      met.flits += flits;
      met.errors += totals.errors;
      met.expected +=
          static_cast<double>(flits) * flit_error_probability(monitor->mode(), errors.bit_error_rate);
    }
  }
  return found;
}

std::string setting_text(const LinkSetting& setting) {
  std::string text;
  if (setting.first > 0.0) text = "errors.bit_error_rate " + Value(setting.first).described();
  if (setting.second)
    text += (text.empty() ? "" : " and ") + ("errors.every " + std::to_string(*setting.second));
  return text;
}

/// Plain digits, as long as they say something.
std::string count_text(double count) {
  constexpr double kLong = 1e12;
  return count < kLong ? std::to_string(std::llround(count)) : rounded_text(count);
}

std::string expected_text(const LinkSetting& setting, const Met& met) {
  if (setting.first == 0.0) return "each direction of a link needs that many for one; measure more requests";
  if (met.expected == 0.0) return "it is too low for any";
  return rounded_text(met.expected) + " were to be expected, one in " +
         count_text(static_cast<double>(met.flits) / met.expected) + " flits; measure more requests";
}

}  // namespace

std::vector<std::string> notes_on_unmet_errors(const System& system) {
  std::vector<std::string> notes;
  for (const auto& [setting, met] : met_by_setting(system)) {
    if (met.errors > 0 || met.flits == 0) continue;
    const std::string where = met.links == 1 ? "the link " + met.first : std::to_string(met.links) + " links";
    notes.push_back(
        setting_text(setting) + " of " + where + " corrupted none of " + counted(met.flits, "flit") +
        " in the measured window, which says nothing of what errors cost: " + expected_text(setting, met));
  }
  return notes;
}

}  // namespace cxloom

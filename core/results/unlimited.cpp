#include "results/unlimited.hpp"

#include <algorithm>
#include <utility>

#include "interconnect/link/end.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "memory/memory_owner.hpp"

namespace cxloom {

namespace {

Value list_of(const std::vector<std::string>& names) { return Value::List(names.begin(), names.end()); }

void add_first(const std::string& noun, const std::vector<std::string>& names, std::string& text) {
  constexpr std::size_t kShown = 3;
  if (names.empty()) return;
  text += (text.empty() ? "" : "; ") + (names.size() == 1 ? noun : plural(noun)) + " ";
  const std::size_t shown = std::min(names.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
}

}  // namespace

Value Unlimited::to_value() const {
  return map_of(kUnlimitedMeasures,
                {.links = list_of(links), .buses = list_of(buses), .memories = list_of(memories)});
}

std::string Unlimited::note() const {
  std::string text;
  add_first("link", links, text);
  add_first("bus", buses, text);
  add_first("memory", memories, text);
  return "bandwidth unset, treated as infinite (no queueing): " + text;
}

Unlimited find_unlimited(const System& system, const Collector* collector) {
  std::vector<bool> sent(system.components().size());  // by its links
  Unlimited found;
  for (const auto& link : system.links()) {
    for (const LinkEnd* const end : {link.forward, link.backward}) {
      const bool busy = end->monitor().closed_totals().messages > 0;
      if (busy) sent[end->owner().id().index()] = true;
      if (end->unlimited() && (busy || !collector)) found.links.push_back(link.way(*end));
    }
  }
  for (const auto& component : system.components()) {
    const SharedMedium* medium = system.roles().of<SharedMedium>(component->id());
    const MemoryOwner* owner = system.roles().of<MemoryOwner>(component->id());
    if (medium && medium->unlimited() && (!collector || sent[component->id().index()]))
      found.buses.push_back(component->name());
    const bool served = collector && collector->of_memory(component->id()).accesses() > 0;
    if (owner && owner->memory_unlimited() && (served || !collector))
      found.memories.push_back(component->name());
  }
  return found;
}

}  // namespace cxloom

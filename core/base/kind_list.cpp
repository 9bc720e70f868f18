#include "base/kind_list.hpp"

#include <utility>

#include "base/memory_estimate.hpp"

namespace cxloom {

void estimate_itself(MemoryEstimate& memory, std::size_t bytes) { memory.add({}, "a device", 1, bytes); }

KindList::KindList(std::string noun) : noun_(std::move(noun)) {}
KindList::KindList(const KindList& other) = default;
KindList& KindList::operator=(const KindList& other) = default;
KindList::~KindList() = default;

const KindList::Entry* KindList::find(const std::string& kind) const {
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

const KindList::Entry& KindList::at(const std::string& kind) const {
  if (const Entry* entry = find(kind)) return *entry;
  throw unknown(kind, "kind");
}

InputError KindList::unknown(const std::string& kind, const std::string& path) const {
  const std::vector<std::string> known = names();
  const std::string nearest = nearest_name(kind, known);
  std::string allowed = list_names(known);
  if (nearest.empty() && !extended_) allowed += "; for a kind of a plug-in: --plugin LIB";
  return InputError({"unknown " + noun_ + " kind '" + kind + "'", {}, allowed, nearest}, path);
}

void KindList::extend_by(const std::string& library) {
  extended_ = true;
  library_ = library;
}

std::vector<std::string> KindList::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.kind);
  return names;
}

KindList::Entry& KindList::declare(const std::string& kind, const SchemaInfo& info) {
  if (find(kind)) throw InputError({"the " + noun_ + " kind '" + kind + "' exists already", {}, {}, {}});
  Entry& entry = entries_.emplace_back();
  entry.kind = kind;
  entry.info = info;
  entry.plugin = library_;
  return entry;
}

}  // namespace cxloom

#include "device/kinds/parts.hpp"

#include <algorithm>

#include "base/schema.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/home/directory_params.hpp"
#include "device/memory/controller.hpp"
#include "device/requester/core_params.hpp"
#include "device/requester/params.hpp"
#include "device/switch/bus.hpp"
#include "device/switch/params.hpp"

namespace cxloom {

namespace {

// Parameters that are only ever part of a larger set, as a set of their own.
struct RequesterAlone : RequesterParams {
  static void describe(Schema<RequesterAlone>& schema) { describe_in(schema); }
};
struct SwitchAlone : SwitchParams {
  static void describe(Schema<SwitchAlone>& schema) { describe_in(schema); }
};
struct DirectoryAlone : DirectoryParams {
  static void describe(Schema<DirectoryAlone>& schema) { describe_lookups(schema); }
};

struct KnownPart {
  std::string_view name;
  SchemaInfo info;
};

const std::vector<KnownPart>& known_parts() {
  static const std::vector<KnownPart> parts{
      {"requester", schema_info<RequesterAlone>()}, {"memory", schema_info<MemoryControllerParams>()},
      {"switch", schema_info<SwitchAlone>()},       {"bus", schema_info<BusParams>()},
      {"cache", schema_info<CacheAgentParams>()},   {"core", schema_info<CoreParams>()},
      {"directory", schema_info<DirectoryAlone>()},
  };
  return parts;
}

bool declares(const SchemaInfo& set, const FieldInfo& wanted) {
  return std::ranges::any_of(set.fields, [&](const FieldInfo& field) {
    return field.name == wanted.name && field.type == wanted.type && field.doc == wanted.doc;
  });
}

void find(const SchemaInfo& set, const std::string& place, std::vector<DevicePart>& found) {
  for (const KnownPart& part : known_parts()) {
    const auto has = [&](const FieldInfo& wanted) { return declares(set, wanted); };
    if (std::ranges::all_of(part.info.fields, has)) found.push_back({part.name, place});
  }
  for (const FieldInfo& field : set.fields) {
    if (field.type == "map" && field.fields)
      find(*field.fields, place.empty() ? field.name : place + "." + field.name, found);
  }
}

}  // namespace

std::vector<DevicePart> parts_of(const SchemaInfo& device) {
  std::vector<DevicePart> found;
  find(device, {}, found);
  return found;
}

}  // namespace cxloom

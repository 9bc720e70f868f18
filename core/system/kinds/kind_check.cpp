#include "system/kinds/kind_check.hpp"

namespace cxloom {

namespace {

/// Calls `act(kinds)` with the list that a parameter names a kind of.
template <class Act>
void with_kinds(const FieldInfo& field, const Registry& registry, Act act) {
  registry.each_category([&](const char* category, auto, const auto& kinds) {
    if (field.category == category) act(kinds);
  });
}

}  // namespace

void require_kinds(const SchemaInfo& info, const Value& params, const Registry& registry) {
  for (const FieldInfo& field : info.fields) {
    const Value* value = params.find(field.name);
    if (!value || value->is_null()) continue;
    with_path(field.name, [&] {
      if (field.fields && field.type == "map") require_kinds(*field.fields, *value, registry);
      if (field.type != "kind") return;
      KindSpec kinded;
      read_value(*value, kinded);
      with_kinds(field, registry, [&](const auto& kinds) { static_cast<void>(kinds.at(kinded.kind)); });
    });
  }
}

void check_named(const SchemaInfo& info, const Value& params, const Registry& registry) {
  ErrorList errors;
  for (const FieldInfo& field : info.fields) {
    const Value* value = params.find(field.name);
    if (!value || value->is_null()) continue;
    errors.attempt([&] {
      with_path(field.name, [&] {
        if (field.fields && field.type == "map") check_named(*field.fields, *value, registry);
        if (field.type == "kind")
          with_kinds(field, registry, [&](const auto& kinds) { check_kind(kinds, *value, registry); });
      });
    });
  }
  errors.raise();
}

}  // namespace cxloom

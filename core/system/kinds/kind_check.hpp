// Kinds that parameters name: whether there are such kinds, and whether their own parameters are as declared.
#pragma once

#include "base/error.hpp"
#include "base/schema.hpp"
#include "base/value.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

/// Throws InputError for a kind that these parameters name and that there is not.
void require_kinds(const SchemaInfo& info, const Value& params, const Registry& registry);

/// Throws InputError for all that is wrong with the kinds that these parameters name, and kinds within them.
void check_named(const SchemaInfo& info, const Value& params, const Registry& registry);

/// Throws InputError for all that is wrong with a kind and its parameters, and with kinds that these name.
template <class Kinds>
void check_kind(const Kinds& kinds, const Value& value, const Registry& registry) {
  KindSpec kinded;
  read_value(value, kinded);
  const auto& entry = kinds.at(kinded.kind);
  ErrorList errors;
  errors.attempt([&] { entry.check(kinded.params); });
  errors.attempt([&] { check_named(entry.info, kinded.params, registry); });
  errors.raise();
}

}  // namespace cxloom

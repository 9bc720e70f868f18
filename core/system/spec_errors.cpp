#include "system/spec_errors.hpp"

#include <algorithm>

#include "system/spec.hpp"

namespace cxloom {

namespace {

class SpecCheck {
 public:
  explicit SpecCheck(const Registry& registry) : registry_(registry) {}

  ErrorList run(const Value& spec) {
    entries(spec, "devices",
            [&](const std::string&, const Value& item) { check_kind(registry_.devices, item); });
    LinkReader links;
    items(spec, "links", [&](const Value& item) { static_cast<void>(links.read(item)); });
    items(spec, "address_map",
          [&](const Value& item) { static_cast<void>(read_params<RegionParams>(item)); });
    entries(spec, "workload",
            [&](const std::string& name, const Value& item) { check_workload(name, item); });
    section<RunParams>(spec, "run");
    section<OutputParams>(spec, "outputs");
    return errors_;
  }

 private:
  template <class Check>
  void entries(const Value& spec, const std::string& key, Check check) {
    const Value* section = spec.find(key);
    const Value::Map* map = section ? section->as_map() : nullptr;
    if (!map) return;
    for (const auto& [name, item] : *map) {
      errors_.attempt([&] { below(key, [&] { below(name, [&] { check(name, item); }); }); });
    }
  }

  template <class Check>
  void items(const Value& spec, const std::string& key, Check check) {
    const Value* section = spec.find(key);
    const Value::List* list = section ? section->as_list() : nullptr;
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      errors_.attempt([&] { below(indexed(key, i), [&] { check((*list)[i]); }); });
    }
  }

  template <class Params>
  void section(const Value& spec, const std::string& key) {
    const Value* found = spec.find(key);
    if (!found || found->is_null()) return;
    errors_.attempt([&] { below(key, [&] { static_cast<void>(read_params<Params>(*found)); }); });
    errors_.attempt([&] {
      below(key, [&] {
        ErrorList inside;
        check_named(Schema<Params>().info(), *found, inside);
        inside.raise();
      });
    });
  }

  /// The parameters of a kind, and those of the kinds that it names.
  template <class Kinds>
  void check_kind(const Kinds& kinds, const Value& value) const {
    Kinded kinded;
    read_value(value, kinded);
    const auto& entry = kinds.at(kinded.kind);
    ErrorList errors;
    errors.attempt([&] { entry.check(kinded.params); });
    check_named(entry.info, kinded.params, errors);
    errors.raise();
  }

  /// The kinds that these parameters name, or those within them.
  void check_named(const SchemaInfo& info, const Value& params, ErrorList& errors) const {
    for (const FieldInfo& field : info.fields) {
      const Value* value = params.find(field.name);
      if (!value || value->is_null()) continue;
      if (field.fields && field.type == "map") {
        errors.attempt([&] {
          below(field.name, [&] {
            ErrorList inside;
            check_named(*field.fields, *value, inside);
            inside.raise();
          });
        });
      }
      if (field.type != "kind") continue;
      registry_.each_category([&](const char* category, auto, const auto& kinds) {
        if (field.category == category)
          errors.attempt([&] { below(field.name, [&] { check_kind(kinds, *value); }); });
      });
    }
  }

  void check_workload(const std::string& device, const Value& item) const {
    const Spec::Workload workload = read_workload(device, item, registry_);
    ErrorList errors;
    if (workload.params.pattern) {
      errors.attempt([&] { registry_.patterns.at(*workload.params.pattern).check(workload.pattern); });
    }
    for (std::size_t i = 0; i < workload.params.phases.size(); ++i) {
      errors.attempt(
          [&] { below(indexed("phases", i), [&] { check_workload(device, workload.params.phases[i]); }); });
    }
    errors.raise();
  }

  const Registry& registry_;
  ErrorList errors_;
};

}  // namespace

ErrorList spec_errors(const Value& spec, const Registry& registry) { return SpecCheck(registry).run(spec); }

void throw_with_spec_errors(const InputError& error, const Value& spec, const Registry& registry) {
  const std::vector<InputError> given = error.all();
  ErrorList errors = spec_errors(spec, registry);
  const std::vector<InputError> found = errors.errors();
  for (const InputError& each : given) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const InputError& other) {
      return other.path() == each.path() && other.detail().problem == each.detail().problem;
    });
    if (!known) errors.add(each);
  }
  throw InputError::joined(errors.errors());
}

}  // namespace cxloom

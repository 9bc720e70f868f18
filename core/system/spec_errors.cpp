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
  }

  /// The parameters of a device, media or scheduler, and those of the kinds that it names.
  template <class Kinds>
  void check_kind(const Kinds& kinds, const Value& value) const {
    Kinded kinded;
    read_value(value, kinded);
    const auto& entry = kinds.at(kinded.kind);
    ErrorList errors;
    errors.attempt([&] { entry.check(kinded.params); });
    for (const FieldInfo& field : entry.info.fields) {
      const Value* named = field.category.empty() ? nullptr : kinded.params.find(field.name);
      if (!named || named->is_null()) continue;
      const auto check = [&](const auto& inner) {
        errors.attempt([&] { below(field.name, [&] { check_kind(inner, *named); }); });
      };
      if (field.category == "media") check(registry_.media);
      if (field.category == "schedulers") check(registry_.media.schedulers);
    }
    errors.raise();
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

#include "system/spec/errors.hpp"

#include <algorithm>

#include "system/spec/section.hpp"

namespace cxloom {

ErrorList spec_errors(const Value& spec, const Registry& registry) {
  return entry_errors(spec, registry, spec_sections());
}

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

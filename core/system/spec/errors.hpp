// All errors of a spec, for a person who would rather hear of all at once.
#pragma once

#include <cstddef>

#include "base/error.hpp"
#include "base/value.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

/// Once an entry is wrong, the other devices, links and entries are checked too if there are at most so many:
/// for more nobody would want to wait.
inline constexpr std::size_t kEntriesLookedAt = 10'000;

/// Looks at every entry of a spec by itself, whatever is wrong with the others: keys, kinds, values, bounds
/// and the rules between them. What takes a whole system to see, such as a footprint beyond the address map,
/// is not looked for.
ErrorList spec_errors(const Value& spec, const Registry& registry);

/// Throws an error of building a system together with all that are wrong with its spec besides.
[[noreturn]] void throw_with_spec_errors(const InputError& error, const Value& spec,
                                         const Registry& registry);

}  // namespace cxloom

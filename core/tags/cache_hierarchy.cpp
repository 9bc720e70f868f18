#include "tags/cache_hierarchy.hpp"

#include <string>

#include "base/error.hpp"

namespace cxloom {

CacheHierarchy::CacheHierarchy(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                               std::uint64_t seed, std::string_view component)
    : counts_(levels.size()) {
  if (levels.empty()) throw InputError({"no cache levels", "an empty list", "at least one level", {}});
  arrays_.reserve(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    try {
      arrays_.emplace_back(levels[i], policies, RandomStream(seed, std::string(component) + index, "victim"));
    } catch (const InputError& error) {
      throw error.below(index);
    }
  }
}

}  // namespace cxloom

#include "embed/measure_path.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace cxloom {

namespace {

/// The first key of a path. Names of devices may have dots: the longest key of the map that the path begins
/// with.
std::string_view first_key(const Value& value, std::string_view path) {
  std::size_t longest = std::min(path.find('.'), path.size());
  if (const Value::Map* const map = value.as_map()) {
    for (const auto& [name, entry] : *map) {
      const bool ends = name.size() == path.size() || (name.size() < path.size() && path[name.size()] == '.');
      if (ends && path.starts_with(name)) longest = std::max(longest, name.size());
    }
  }
  return path.substr(0, longest);
}

const Value* inside(const Value& value, std::string_view key) {
  const Value::List* const list = value.as_list();
  if (!list) return value.find(key);
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), place);
  const bool whole = error == std::errc() && end == key.data() + key.size();
  return whole && place < list->size() ? &(*list)[place] : nullptr;
}

[[noreturn]] void no_key(const Value& value, std::string_view key, std::string_view path) {
  std::vector<std::string> keys;
  if (const Value::Map* const map = value.as_map())
    for (const auto& [name, entry] : *map) keys.push_back(name);
  const std::string nearest = nearest_name(std::string(key), keys);
  throw InputError({"no measure of that name in the summary", std::string(path),
                    keys.empty() ? "keys of summary.json, with a dot between them" : list_names(keys),
                    nearest});
}

}  // namespace

double measure_at(const Value& summary, std::string_view path) {
  const Value* at = &summary;
  for (std::string_view rest = path;;) {
    const std::string_view key = first_key(*at, rest);
    const Value* const next = inside(*at, key);
    if (!next) no_key(*at, key, path);
    at = next;
    if (key.size() == rest.size()) break;
    rest.remove_prefix(key.size() + 1);
  }
  if (const std::int64_t* const whole = at->as_integer()) return static_cast<double>(*whole);
  if (const double* const real = at->as_real()) return *real;
  if (const bool* const truth = at->as_bool()) return *truth ? 1.0 : 0.0;
  if (at->is_null()) return std::numeric_limits<double>::quiet_NaN();
  throw InputError({"this measure is no number", std::string(path) + ": " + at->described(), {}, {}});
}

}  // namespace cxloom

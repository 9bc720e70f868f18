#include "interconnect/wire/class_credits.hpp"

#include <algorithm>

#include "base/schema.hpp"

namespace cxloom {
namespace {

std::uint32_t read_credits(const Value& value) {
  std::uint32_t credits = 0;
  read_value(value, credits);
  if (credits < 1 || credits > ClassCredits::kMost) {
    throw InputError({"credits out of range",
                      value.described(),
                      "at least 1, at most " + std::to_string(ClassCredits::kMost),
                      {}});
  }
  return credits;
}

}  // namespace

void read_value(const Value& value, ClassCredits& out) {
  out = {};
  if (value.is_null()) return;
  const Value::Map* table = value.as_map();
  if (!table) {
    out = ClassCredits(read_credits(value));
    return;
  }
  const std::vector<std::string> names(kChannelNames.begin(), kChannelNames.end());
  for (const auto& [name, credits] : *table) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw InputError(
          {"unknown message class", "'" + name + "'", list_names(names), nearest_name(name, names)}, name);
    }
    out.set(static_cast<Channel>(found - names.begin()),
            with_path(name, [&] { return read_credits(credits); }));
  }
}

}  // namespace cxloom

#include "interconnect/arbitration/device_weights.hpp"

#include "base/schema.hpp"

namespace cxloom {

void read_value(const Value& value, DeviceWeights& out) {
  out = {};
  if (value.is_null()) return;
  const Value::Map* map = value.as_map();
  if (!map) throw InputError({"not weights of devices", value.described(), "a map such as {host0: 3}", {}});
  for (const auto& [name, item] : *map) {
    with_path(name, [&] {
      std::uint32_t weight = 0;
      read_value(item, weight);
      if (weight < 1 || weight > DeviceWeights::kMost) {
        throw InputError({"out of bounds",
                          item.described(),
                          "at least 1, at most " + std::to_string(DeviceWeights::kMost),
                          {}});
      }
      out.by_name.emplace_back(name, weight);
    });
  }
}

}  // namespace cxloom

#include "interconnect/wire/phy.hpp"

#include <algorithm>
#include <vector>

#include "base/schema.hpp"

namespace cxloom {

Rate Phy::rate(bool sync_header_bypass) const {
  constexpr unsigned kBitsOfByte = 8;
  const std::uint64_t bytes_in_8ns = std::uint64_t{gigatransfers()} * lanes;
  if (has_sync_headers() && !sync_header_bypass)
    return Rate::per_time(bytes_in_8ns * 128, kBitsOfByte * 1000 * 130);
  return Rate::per_time(bytes_in_8ns, kBitsOfByte * 1000);
}

std::string to_text(const Phy& phy) {
  return "pcie" + std::to_string(phy.generation) + "-x" + std::to_string(phy.lanes);
}

void read_value(const Value& value, Phy& out) {
  std::vector<std::string> names;
  for (unsigned generation = 3; generation <= 7; ++generation) {
    for (const unsigned lanes : {1U, 2U, 4U, 8U, 16U}) {
      const Phy phy{generation, lanes};
      names.push_back(to_text(phy));
      if (value.as_text() && *value.as_text() == names.back()) {
        out = phy;
        return;
      }
    }
  }
  throw InputError({"not a physical layer", value.described(),
                    "pcie3 to pcie7, x1, x2, x4, x8 or x16: pcie5-x16",
                    value.as_text() ? nearest_name(*value.as_text(), names) : ""});
}

}  // namespace cxloom

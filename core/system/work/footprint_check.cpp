#include "system/work/footprint_check.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace cxloom {

namespace {

/// By address, those that follow each other as one.
std::vector<AddressMap::Extent> without_borders(std::vector<AddressMap::Extent> extents) {
  std::ranges::sort(extents, {}, [](const AddressMap::Extent& each) { return each.base; });
  std::vector<AddressMap::Extent> merged;
  for (const AddressMap::Extent& each : extents) {
    if (!merged.empty() && merged.back().base.value() + merged.back().bytes == each.base.value()) {
      merged.back().bytes += each.bytes;
    } else {
      merged.push_back(each);
    }
  }
  return merged;
}

// What is certain to be answered with an error is a mistake. Of a trace the addresses show only during the
// run.
void check_owners(const AddressRange& range, const AddressMap& map, const std::string& device) {
  const auto other = map.foreign(range.base, range.bytes, device);
  if (!other) return;
  throw InputError(
      {"the footprint reaches memory that belongs to another device",
       to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
       "addresses outside of logical device " + std::to_string(other->ld) + " of '" + other->memory +
           "', which belongs to '" + other->owner + "': it has " + to_text(other->at),
       {},
       InputError::Kind::kBetween},
      std::string(other->at == range.base ? range.key : "footprint"));
}

}  // namespace

void check_footprint(const AddressRange& range, const AddressMap& map, const std::string& device) {
  const std::vector<AddressMap::Extent> extents = without_borders(map.extents());
  const auto behind =
      std::ranges::upper_bound(extents, range.base, {}, [](const auto& each) { return each.base; });
  const auto offset = [&](const AddressMap::Extent& extent) {
    return range.base.value() - extent.base.value();
  };
  const bool begins_inside =
      behind != extents.begin() && offset(*std::prev(behind)) < std::prev(behind)->bytes;
  const std::uint64_t room = begins_inside ? std::prev(behind)->bytes - offset(*std::prev(behind)) : 0;
  if (range.bytes <= room) return check_owners(range, map, device);
  const auto fits = [&](const AddressMap::Extent& extent) { return range.bytes <= extent.bytes; };
  const auto next = std::ranges::find_if(behind, extents.end(), fits);
  const bool in_hole = begins_inside && behind != extents.end();
  std::string allowed = "addresses in " + map.described();
  if (next != extents.end()) allowed += "; set " + std::string(range.key) + ": " + to_text(next->base);
  if (in_hole) {
    allowed += "; or a footprint of " + to_text(Bytes{room}) +
               "; or addresses: first-touch, whose pages go to both sides of it";
  }
  const bool fits_somewhere = std::ranges::any_of(extents, fits);
  throw InputError({in_hole ? "the footprint runs into a hole of the address map"
                            : "the footprint runs out of the address map",
                    to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
                    allowed,
                    {},
                    InputError::Kind::kBetween},
                   std::string(!begins_inside || (fits_somewhere && !in_hole) ? range.key : "footprint"));
}

}  // namespace cxloom

#include "component/resource.hpp"

namespace cxloom {

Setting doubled(std::string path, std::uint64_t count) { return {std::move(path), number(2 * count)}; }

Resource waiting_for_media(std::string name) {
  return {.name = std::move(name),
          .stage = Stage::kMedia,
          .capacity = 1,
          .occupancy = Occupancy::kWaiting,
          .measures = {"breakdown_ns"},
          .wait = Segment::kMediaQueue,
          .counts = Traffic::kRequests};
}

void ResourcesWithin::add(Resource resource) {
  for (std::string& measure : resource.measures) measure.insert(0, measures_);
  if (!resource.remark.empty()) resource.remark.insert(0, measures_);
  for (Setting& setting : resource.twice) setting.first.insert(0, parameters_);
  if (resource.part.empty()) resource.part = part_;
  resource.name += owner_;
  any_ = true;
  sink_.add(std::move(resource));
}

}  // namespace cxloom

#include "coherence/home/directory_places.hpp"

#include <string>

#include "component/resource.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

DirectoryPlaces::DirectoryPlaces(std::optional<std::uint32_t> places, Kernel& kernel,
                                 const EventHandler& home)
    : places_(places), home_(home), list_(kernel, "a transaction of the coherency agent", home) {
  kernel.measure(level_);
}

void DirectoryPlaces::resources(ResourceSink& sink) const {
  if (!places_) return;
  sink.add({.name = "the transactions of the coherency agent of",
            .stage = Stage::kPlaces,
            .capacity = *places_,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_home.*.transactions_mean"},
            .wait = Segment::kHomeQueue,
            .counts = Traffic::kRequests,
            .part = "directory",
            .twice = {doubled("transactions", *places_)},
            .twice_text = std::to_string(2 * std::uint64_t{*places_}) + " transactions"});
}

}  // namespace cxloom

#include "coherence/cache/mshr_file.hpp"

#include <string>
#include <utility>

#include "component/component_time.hpp"
#include "component/resource.hpp"

namespace cxloom {

MshrFile::MshrFile(std::optional<std::uint32_t> registers, Endpoint& device)
    : device_(device), registers_(registers), list_(device.kernel(), "a miss register", device) {}

void MshrFile::wait(Request& request) {
  if (waiting_.empty()) list_.join(*this, device_.now());
  waiting_.push(request);
}

Request& MshrFile::next() {
  Request& request = waiting_.pop();
  if (waiting_.empty()) list_.leave(*this);
  return request;
}

void MshrFile::resources(ResourceSink& sink) const {
  Resource registers{.name = "the miss registers (MSHRs) of",
                     .stage = Stage::kCache,
                     .capacity = registers_,
                     .occupancy = Occupancy::kHeld,
                     .measures = {"requests"},
                     .wait = Segment::kMshr,
                     .counts = Traffic::kLines,
                     .part = "cache",
                     .full_from = 0.95};
  if (registers_) {
    registers.twice = {doubled("mshrs", *registers_)};
    registers.twice_text = std::to_string(2 * std::uint64_t{*registers_}) + " registers";
  }
  sink.add(std::move(registers));
}

}  // namespace cxloom

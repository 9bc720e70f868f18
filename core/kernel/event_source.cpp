#include "kernel/event_source.hpp"

namespace cxloom {

EventSource::EventSource(std::vector<EventSource*>& all)
    : next_(std::uint64_t{all.size()} << kIdentityShift) {
  all.push_back(this);
}

}  // namespace cxloom

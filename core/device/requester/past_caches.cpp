#include "device/requester/past_caches.hpp"

#include <algorithm>

#include "component/component_time.hpp"

namespace cxloom {

PastCaches::PastCaches(std::uint32_t buffers, Time process_time, Endpoint& endpoint, PastSender& requester)
    : process_time_(process_time),
      endpoint_(endpoint),
      requester_(requester),
      in_order_(endpoint.kernel(), "the answers to all accesses before one to uncacheable memory, or to that",
                endpoint),
      buffers_(buffers, endpoint.kernel(), static_cast<CombiningBuffers::BufferOwner&>(*this)) {}

void PastCaches::begin(bool by_itself, const std::string& work) {
  used_ = map().has_types();
  by_itself_ = by_itself;
  if (!used_ || by_itself) return;
  throw InputError(
      {"memory types are of requesters that make their accesses in order, and have their cache in "
       "the simulation",
       "cores, or a cache outside",
       "a requester without a core and external_cache, or type: wb of all regions",
       {},
       InputError::Kind::kBetween},
      work);
}

bool PastCaches::is_uncacheable(const Access& access) const {
  Address at = access.address;
  for (std::uint32_t rest = access.lines(); rest > 0; --rest) {
    if (map().type_of(at) == MemoryType::kUncacheable) return true;
    at = LineAddress::of(at).next().address();
  }
  return false;
}

// The buffers are emptied as by a fence.
WaitList* PastCaches::waits_in_order(const Access& next, std::uint64_t in_flight) {
  const bool uncacheable = is_uncacheable(next);
  if ((uncacheable || uncacheable_) && (in_flight > 0 || !empty())) {
    drain();
    return &in_order_;
  }
  uncacheable_ = uncacheable;
  return nullptr;
}

void PastCaches::check_store(std::uint64_t number) const {
  if (by_itself_) return;
  throw InputError({"a store past the caches, of a requester with cores or a cache outside",
                    "access " + std::to_string(number),
                    "a requester that makes its accesses in order, with a cache or without",
                    {},
                    InputError::Kind::kBetween});
}

void PastCaches::begin_store(Request& request, const std::string& work) {
  with_path(work, [&] { check_store(request.id); });
  request.past = true;
  used_ = true;
}

// What buffers write, and what they held up, does not come here.
bool PastCaches::takes(Request& request) {
  const MemoryType type = map().type_of(request.address);
  request.through = type == MemoryType::kWriteThrough;
  request.past |= type == MemoryType::kUncacheable || type == MemoryType::kWriteCombining;
  if (request.kind == AccessKind::kWrite && request.past && type != MemoryType::kUncacheable) {
    buffers_.store(request);
    return true;
  }
  return buffers_.holds_up(request);
}

// It passes the pipeline of requests, and so keeps its place among them.
void PastCaches::send_past(Request& request) {
  request.charge(Segment::kProcess, std::max(request.account.mark(), endpoint_.now() + process_time_));
  requester_.to_memory(request);
}

}  // namespace cxloom

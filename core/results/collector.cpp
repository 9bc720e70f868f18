#include "results/collector.hpp"

#include <utility>

namespace cxloom {

void Collector::completed(const Request& request, Time now) {
  const Time latency = now - request.created;
  RequestStatistics& kind = request.kind == AccessKind::kRead ? reads_ : writes_;
  if (request.target.index() >= targets_.size()) targets_.resize(request.target.index() + 1);
  RequestStatistics& target = targets_[request.target.index()];
  // A cache hit moves nothing, nor does a miss that waits for the line of another; a miss moves a line.
  const std::uint64_t moved = request.failed ? 0 : request.message.size;
  if (request.failed) ++failed_;
  all_.latency.add(latency);
  all_.payload += moved;
  kind.add(request, latency, moved);
  if (moved > 0) target.add(request, latency, moved);  // the others were served by no memory
  hops_ += request.message.hops;
  if (keep_requests_) keep(request, now);
}

void Collector::written_back(NodeId /*requester*/, NodeId target, std::uint64_t bytes) {
  if (target.index() >= targets_.size()) targets_.resize(target.index() + 1);
  ++write_backs_;
  all_.payload += bytes;
  writes_.payload += bytes;
  targets_[target.index()].payload += bytes;
}

void Collector::keep(const Request& request, Time now) {
  table_.id.push_back(request.id);
  table_.requester.push_back(request.requester.index());
  table_.target.push_back(request.target.index());
  table_.thread.push_back(request.thread);
  table_.hops.push_back(request.message.hops);
  table_.address.push_back(request.address.value());
  table_.kind.push_back(request.kind == AccessKind::kRead ? 0 : 1);
  table_.size.push_back(request.size);
  table_.created_ps.push_back(request.created.ps());
  table_.completed_ps.push_back(now.ps());
  for (std::size_t i = 0; i < kSegmentCount; ++i) table_.segments_ps[i].push_back(request.segments[i].ps());
}

std::array<Wide, kSegmentCount> Collector::segment_sums_ps() const {
  std::array<Wide, kSegmentCount> sums{};
  for (std::size_t i = 0; i < kSegmentCount; ++i)
    sums[i] = reads_.segment_sums_ps[i] + writes_.segment_sums_ps[i];
  return sums;
}

const RequestStatistics* Collector::of_target(NodeId node) const {
  return node.index() < targets_.size() ? &targets_[node.index()] : nullptr;
}

RequestTable Collector::take_requests() { return std::exchange(table_, {}); }

}  // namespace cxloom

#include "results/collector.hpp"

#include <utility>

namespace cxloom {

void Collector::completed(const Request& request, Time now) {
  const Time latency = now - request.created;
  RequestStatistics& kind = request.kind == AccessKind::kRead ? reads_ : writes_;
  // A cache hit moves nothing, nor does a miss that waits for the line of another, nor what failed; a miss moves a line.
  const std::uint64_t moved = request.moved;
  if (request.failed) ++failed_;
  all_.add_latency(latency);
  all_.payload += moved;
  kind.add(request, latency, moved);
  if (request.lines == 1) count_at_memory(request, latency);
  hops_ += request.message.hops;
  if (keep_requests_) keep(request, now);
}

// The access itself is counted when its last line is answered, its bytes with each.
void Collector::line_completed(const Request& line, Time now) {
  all_.payload += line.moved;
  (line.kind == AccessKind::kRead ? reads_ : writes_).payload += line.moved;
  count_at_memory(line, now - line.created);
}

void Collector::count_at_memory(const Request& line, Time latency) {
  if (line.moved == 0) return;  // no memory served it
  MemoryStatistics& target = memory(line.target);
  target.add(line, latency, line.moved);
  if (line.message.opcode == Opcode::kMemData) {
    ++target.reads;
    target.read_payload += line.moved;
  }
}

void Collector::written_back(NodeId /*requester*/, NodeId target, std::uint64_t bytes) {
  if (bytes == 0) {
    ++failed_write_backs_;
    return;
  }
  ++write_backs_;
  all_.payload += bytes;
  writes_.payload += bytes;
  memory(target).payload += bytes;
  ++memory(target).write_backs;
}

std::optional<double> Collector::relative_error() const {
  const auto precision = all_.batches.precision(all_.latency.count());
  if (!precision || !precision->independent) return std::nullopt;
  return precision->half_width / 1000.0 / all_.latency.mean_ns();
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
  for (std::size_t i = 0; i < kSegmentCount; ++i)
    table_.segments_ps[i].push_back(request.account.segments[i].ps());
}

std::array<Wide, kSegmentCount> Collector::segment_sums_ps() const {
  std::array<Wide, kSegmentCount> sums{};
  for (std::size_t i = 0; i < kSegmentCount; ++i)
    sums[i] = reads_.segment_sums_ps[i] + writes_.segment_sums_ps[i];
  return sums;
}

const MemoryStatistics& Collector::of_memory(NodeId node) const {
  static const MemoryStatistics nothing;
  return node.index() < memories_.size() ? memories_[node.index()] : nothing;
}

RequestTable Collector::take_requests() { return std::exchange(table_, {}); }

}  // namespace cxloom

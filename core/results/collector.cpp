#include "results/collector.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cxloom {

namespace {

void add(SegmentSums::Sums& total, const SegmentSums& part) {
  const SegmentSums::Sums sums = part.in_ps();
  for (std::size_t i = 0; i < kSegmentCount; ++i) total[i] += sums[i];
}

}  // namespace

SegmentSums::Sums MemoryStatistics::segment_sums_ps() const {
  SegmentSums::Sums sums = lines.in_ps();
  for (const SegmentSums& kind : whole) add(sums, kind);
  return sums;
}

Wide Collector::latency_sum_ps() const {
  Wide all = 0;
  for (const Kind& kind : kinds_) all += kind.latency.sum_ps();
  return all;
}

void Collector::completed(const Request& request, Time now) {
  const Time latency = now - request.created();
  if (request.failed) [[unlikely]]
    return count_error(request, now);
  Kind& kind = kind_of(request);
  kind.latency.add(latency);
  if (kind.latency.count() == kind.batches.next()) [[unlikely]]
    kind.batches.close(kind.latency.sum_ps());
  if (++count_ == batches_.next()) [[unlikely]]
    batches_.close(latency_sum_ps());
  // A cache hit moves nothing, nor does a miss that waits for the line of another; a miss moves a line.
  if (const std::uint64_t moved = request.moved(); moved > 0) {
    kind.payload += moved;
    count_at_memory(request, latency, moved)
        .whole[static_cast<std::size_t>(request.kind)]
        .add(request.account, latency);
  } else {
    kind.elsewhere.add(request.account, latency);
  }
  hops(request.message.hops).add(latency);
  if (mix_windows_.kept()) {
    mix_windows_.moved(now, request.moved());
    mix_windows_.completed(now, request.kind == AccessKind::kRead);
  }
  if (keep_requests_) keep(request, now);
}

// Each line of an access was counted at the memory that answered it.
[[gnu::noinline]] void Collector::count_error(const Request& request, Time now) {
  kind_of(request).errors.add(now - request.created());
  if (request.lines == 1) memory(request.target).errors.add(now - request.created());
  if (!first_error_) first_error_ = {request.address, request.requester(), request.target, now};
  if (keep_requests_) keep(request, now);
}

[[gnu::noinline]] void Collector::make_room_for_memory(NodeId node) { memories_.resize(node.index() + 1); }

[[gnu::noinline]] void Collector::make_room_for_hops(std::size_t count) { by_hops_.resize(count + 1); }

// The access itself is counted when its last line is answered, its bytes with each.
void Collector::line_completed(const Request& line, Time now) {
  const std::uint64_t moved = line.moved();
  const Time latency = now - line.created();
  if (line.failed) [[unlikely]]
    memory(line.target).errors.add(latency);
  if (line.failed || moved == 0) return;
  kind_of(line).payload += moved;
  if (mix_windows_.kept()) mix_windows_.moved(now, moved);
  count_at_memory(line, latency, moved).lines.add(line.account, latency);
}

MemoryStatistics& Collector::count_at_memory(const Request& line, Time latency, std::uint64_t moved) {
  MemoryStatistics& target = memory(line.target);
  target.latency.add(latency);
  target.payload += moved;
  if (line.made_by_memory()) {
    ++target.atomics;
    target.atomic_payload += moved;
  } else if (answers_read(line.message.opcode)) {
    ++target.reads;
    target.read_payload += moved;
  }
  return target;
}

void Collector::written_back(NodeId /*requester*/, NodeId target, std::uint64_t bytes) {
  if (bytes == 0) {
    ++failed_write_backs_;
    return;
  }
  ++write_backs_;
  kinds_[static_cast<std::size_t>(AccessKind::kWrite)].payload += bytes;
  memory(target).payload += bytes;
  ++memory(target).write_backs;
}

void Collector::prefetched(NodeId /*requester*/, NodeId target, std::uint64_t bytes) {
  if (bytes == 0) return;
  ++prefetches_;
  kinds_[static_cast<std::size_t>(AccessKind::kRead)].payload += bytes;
  MemoryStatistics& from = memory(target);
  from.payload += bytes;
  from.read_payload += bytes;
  ++from.reads;
  ++from.prefetches;
}

void Collector::drained(NodeId /*buffer*/, NodeId target, std::uint64_t bytes) {
  memory(target).payload += bytes;
  ++memory(target).drains;
}

std::optional<double> Collector::relative_error() const {
  const auto precision = batches_.precision(count_);
  if (!precision || !precision->independent) return std::nullopt;
  return precision->half_width * static_cast<double>(count_) / static_cast<double>(latency_sum_ps());
}

void Collector::keep(const Request& request, Time now) {
  table_.id.push_back(request.id);
  table_.requester.push_back(request.requester().index());
  table_.target.push_back(request.target.index());
  table_.thread.push_back(request.thread());
  table_.hops.push_back(request.message.hops);
  table_.address.push_back(request.address.value());
  table_.kind.push_back(static_cast<std::uint8_t>(request.kind));
  table_.size.push_back(request.size);
  table_.error.push_back(request.failed ? 1 : 0);
  table_.created_ps.push_back(request.created().ps());
  table_.completed_ps.push_back(now.ps());
  const auto segments = request.account.segments();
  for (std::size_t i = 0; i < kSegmentCount; ++i) table_.segments_ps[i].push_back(segments[i].ps());
  for (std::size_t i = table_.rows() - 1; i > 0 && comes_before(i, i - 1); --i)
    each_column(table_, [i](auto& column) { std::swap(column[i - 1], column[i]); });
}

// Orders two rows of one instant by requester and id, whichever event happened to be first.
bool Collector::comes_before(std::size_t a, std::size_t b) const {
  return std::tie(table_.completed_ps[a], table_.requester[a], table_.id[a]) <
         std::tie(table_.completed_ps[b], table_.requester[b], table_.id[b]);
}

RequestStatistics Collector::of_kind(AccessKind which) const {
  const auto index = static_cast<std::size_t>(which);
  const Kind& kind = kinds_[index];
  RequestStatistics statistics{kind.latency, kind.batches, kind.payload, kind.elsewhere.in_ps(), kind.errors};
  for (const MemoryStatistics& memory : memories_) add(statistics.segment_sums_ps, memory.whole[index]);
  return statistics;
}

RequestStatistics Collector::all() const {
  RequestStatistics total = reads();
  total.batches = batches_;
  for (const AccessKind kind : {AccessKind::kWrite, AccessKind::kAtomic, AccessKind::kFlush}) {
    const RequestStatistics others = of_kind(kind);
    total.latency.merge(others.latency);
    total.errors.merge(others.errors);
    total.payload += others.payload;
    for (std::size_t i = 0; i < kSegmentCount; ++i) total.segment_sums_ps[i] += others.segment_sums_ps[i];
  }
  return total;
}

const MemoryStatistics& Collector::of_memory(NodeId node) const {
  static const MemoryStatistics nothing;
  return node.index() < memories_.size() ? memories_[node.index()] : nothing;
}

RequestTable Collector::take_requests(Time before) {
  RequestTable rows = std::exchange(table_, {});
  const auto& completed = rows.completed_ps;
  const auto taken = std::lower_bound(completed.begin(), completed.end(), before.ps()) - completed.begin();
  if (static_cast<std::size_t>(taken) == rows.rows()) return rows;
  table_ = rows;
  each_column(table_, [&](auto& column) { column.erase(column.begin(), column.begin() + taken); });
  each_column(rows, [&](auto& column) { column.resize(static_cast<std::size_t>(taken)); });
  return rows;
}

}  // namespace cxloom

#include "results/collector.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace cxloom {

namespace {

void add(SegmentSums::Sums& total, const SegmentSums& part) {
  const SegmentSums::Sums sums = part.in_ps();
  for (std::size_t i = 0; i < kSegmentCount; ++i) total[i] += sums[i];
}

/// Puts the rows of `more` behind those of `rows`.
void append(RequestTable& rows, const RequestTable& more) {
  const auto put = [](auto& column, const auto& further) {
    column.insert(column.end(), further.begin(), further.end());
  };
  std::apply([&]<class... Columns>(
                 const Columns&...) { (put(rows.*Columns::kMember, more.*Columns::kMember), ...); },
             kRequestColumns);
  for (std::size_t i = 0; i < kSegmentCount; ++i) put(rows.segments_ps[i], more.segments_ps[i]);
}

}  // namespace

SegmentSums::Sums MemoryStatistics::segment_sums_ps() const {
  SegmentSums::Sums sums = lines.in_ps();
  for (const SegmentSums& kind : whole) add(sums, kind);
  return sums;
}

void MemoryStatistics::merge(const MemoryStatistics& other) {
  latency.merge(other.latency);
  errors.merge(other.errors);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i].merge(other.whole[i]);
  lines.merge(other.lines);
  payload += other.payload;
  reads += other.reads;
  read_payload += other.read_payload;
  atomics += other.atomics;
  atomic_payload += other.atomic_payload;
  write_backs += other.write_backs;
  prefetches += other.prefetches;
  drains += other.drains;
  copied_lines += other.copied_lines;
}

void HopStatistics::merge(const HopStatistics& other) {
  count += other.count;
  latency_sum_ps += other.latency_sum_ps;
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
}

Collector::Collector(bool keep_requests, std::uint64_t mix_windows, std::size_t batches)
    : keep_requests_(keep_requests),
      kinds_{Kind(batches), Kind(batches), Kind(batches), Kind(batches)},
      batches_(batches),
      mix_windows_(mix_windows) {
  static_assert(kAccessKinds == 4);
}

std::unique_ptr<RequestObserver> Collector::divide() {
  std::unique_ptr<Collector> part(new Collector(keep_requests_, 0, 0));
  part->mix_windows_ = mix_windows_.of_part();
  return part;
}

void Collector::count_in_order(InOrder& requests, BatchMeans& batches, Time latency, std::uint64_t moved,
                               Time now) {
  requests.latency_sum_ps += static_cast<std::uint64_t>(latency.ps());
  requests.moved += moved;
  if (++requests.count == batches.next()) batches.close(requests.latency_sum_ps, requests.moved, now);
}

void Collector::completed_in_order(AccessKind kind, Time latency, std::uint64_t moved, Time now) {
  const auto index = static_cast<std::size_t>(kind);
  count_in_order(kinds_in_order_[index], kinds_[index].batches, latency, moved, now);
  count_in_order(in_order_, batches_, latency, moved, now);
}

void Collector::take_in(const RequestObserver& part) {
  const auto& other = static_cast<const Collector&>(part);  // which `divide` has made
  for (std::size_t i = 0; i < kAccessKinds; ++i) {
    kinds_[i].latency.merge(other.kinds_[i].latency);
    kinds_[i].payload += other.kinds_[i].payload;
    kinds_[i].elsewhere.merge(other.kinds_[i].elsewhere);
    kinds_[i].errors.merge(other.kinds_[i].errors);
  }
  count_ += other.count_;
  make_room_for_memories(other.memories_.size());
  for (std::size_t i = 0; i < other.memories_.size(); ++i) memories_[i].merge(other.memories_[i]);
  make_room_for_hops(other.by_hops_.size());
  for (std::size_t i = 0; i < other.by_hops_.size(); ++i) by_hops_[i].merge(other.by_hops_[i]);
  if (other.first_error_ && (!first_error_ || other.first_error_->at < first_error_->at))
    first_error_ = other.first_error_;
  failed_write_backs_ += other.failed_write_backs_;
  write_backs_ += other.write_backs_;
  prefetches_ += other.prefetches_;
}

void Collector::take_rows(std::span<RequestObserver* const> parts) {
  std::vector<MixWindows*> mixes;
  for (RequestObserver* const each : parts) {
    auto& part = static_cast<Collector&>(*each);  // which `divide` has made
    take_rows_of(part);
    mixes.push_back(&part.mix_windows_);
  }
  if (mix_windows_.kept()) mix_windows_.take(mixes);
}

// Both have their rows in order.
void Collector::take_rows_of(Collector& part) {
  RequestTable& rows = part.table_;
  if (rows.rows() == 0) return;
  const std::size_t first = table_.rows();
  const std::size_t count = first + rows.rows();
  RequestTable all = std::exchange(table_, {});
  append(all, std::exchange(rows, {}));
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    return std::tuple(all.completed_ps[i], all.requester[i], all.id[i]);
  };
  std::vector<std::uint32_t> order;
  order.reserve(count);
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(first);
  std::merge(numbers.begin(), middle, middle, numbers.end(), std::back_inserter(order),
             [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  each_column(all, [&](auto& column) {
    auto sorted = column;
    for (std::size_t i = 0; i < count; ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
  });
  table_ = std::move(all);
}

std::uint64_t Collector::count_so_far() const { return std::max(count_, in_order_.count); }

std::uint64_t Collector::moved() const {
  std::uint64_t all = 0;
  for (const Kind& kind : kinds_) all += kind.moved;
  return all;
}

Wide Collector::latency_sum_ps() const {
  if (count_ < in_order_.count) return in_order_.latency_sum_ps;
  Wide all = 0;
  for (const Kind& kind : kinds_) all += kind.latency.sum_ps();
  return all;
}

[[gnu::always_inline]] inline MemoryStatistics& Collector::count_at_memory(const Request& line, Time latency,
                                                                           std::uint64_t moved) {
  MemoryStatistics& target = memory(line.target);
  target.latency.add(latency);
  target.payload += moved;
  if (line.made_by_memory()) {
    ++target.atomics;
    target.atomic_payload += moved;
  } else {
    // A sum, as nobody can foresee which it is.
    const std::uint64_t read = answers_read(line.message.opcode) ? 1 : 0;
    target.reads += read;
    target.read_payload += moved & -read;
  }
  return target;
}

[[gnu::hot]] void Collector::completed(const Request& request, Time now) {
  const Time latency = now - request.created();
  if (request.failed) [[unlikely]]
    return count_error(request, now);
  Kind& kind = kind_of(request);
  kind.latency.add(latency);
  kind.moved += request.moved_in_all();
  if (kind.latency.count() == kind.batches.next()) [[unlikely]]
    kind.batches.close(kind.latency.sum_ps(), kind.moved, now);
  if (++count_ == batches_.next()) [[unlikely]]
    batches_.close(latency_sum_ps(), moved(), now);
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

[[gnu::noinline]] void Collector::make_room_for_memories(std::size_t count) {
  if (count > memories_.size()) memories_.resize(count);
  memory_room_ = memories_.size();
}

[[gnu::noinline]] void Collector::make_room_for_hops(std::size_t count) {
  if (count > by_hops_.size()) by_hops_.resize(count);
  hops_room_ = by_hops_.size();
}

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

void Collector::copied_from(NodeId source, std::uint64_t bytes) {
  MemoryStatistics& from = memory(source);
  from.payload += bytes;
  from.read_payload += bytes;
  ++from.reads;
  ++from.copied_lines;
}

std::optional<double> Collector::relative_error() const {
  const std::uint64_t count = count_so_far();
  const auto precision = batches_.precision(count);
  if (!precision || !precision->independent) return std::nullopt;
  return precision->half_width * static_cast<double>(count) / static_cast<double>(latency_sum_ps());
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

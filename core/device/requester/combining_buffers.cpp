#include "device/requester/combining_buffers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/error.hpp"
#include "base/measure_table.hpp"
#include "component/resource.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kWhole = ~std::uint64_t{0};

struct CombiningMeasured : CombiningCounts {
  double mean = 0;
};

constexpr std::array kCombiningMeasures{
    measure<CombiningMeasured, &CombiningMeasured::full>(
        "combined_full", "",
        "lines that combining buffers wrote whole, answered in the window. This and what follows is absent "
        "where no store went past the caches"),
    measure<CombiningMeasured, &CombiningMeasured::partial>(
        "combined_partial", "",
        "lines that combining buffers wrote in part, answered in the window: for want of a buffer, or at a "
        "fence"),
    measure<&CombiningMeasured::mean>(
        "combining_mean", "",
        "combining buffers in use, by lines on their way to memory too, mean over time"),
};

std::uint64_t bytes_of(const Request& store) {
  const std::uint64_t bytes = store.size == kLineBytes ? kWhole : (std::uint64_t{1} << store.size) - 1;
  return bytes << store.address.value() % kLineBytes;
}

}  // namespace

CombiningBuffers::CombiningBuffers(std::uint32_t count, Kernel& kernel, BufferOwner& owner)
    : kernel_(kernel), owner_(owner), buffers_(count), counts_(kernel) {
  kernel.measure(occupied_);
}

// The first store of a line that waits has a buffer written for it: that which has gathered for longest.
void CombiningBuffers::store(Request& request) {
  used_ = true;
  if (waiting_.empty() && place(request)) return;
  if (!is_waited_for(LineAddress::of(request.address))) write_oldest();
  waiting_.push(request);
}

// Unless all are on their way.
void CombiningBuffers::write_oldest() {
  Buffer* oldest = nullptr;
  for (Buffer& each : buffers_)
    if (each.bytes != 0 && !each.leaves && (!oldest || each.opened < oldest->opened)) oldest = &each;
  if (oldest) write(*oldest);
}

// Into the buffer of its line, or a free one.
bool CombiningBuffers::place(Request& store) {
  const LineAddress line = LineAddress::of(store.address);
  const auto gathers = [&](const Buffer& buffer) {
    return buffer.bytes != 0 && !buffer.leaves && buffer.line == line;
  };
  auto buffer = std::ranges::find_if(buffers_, gathers);
  if (buffer == buffers_.end()) {
    buffer = std::ranges::find(buffers_, std::uint64_t{0}, &Buffer::bytes);
    if (buffer == buffers_.end()) return false;
    *buffer = {.line = line, .opened = ++opened_};
    occupied_.change(kernel_.now(), 1);
  }
  if (store.account.mark() < kernel_.now()) store.charge(Segment::kMshr, kernel_.now());
  buffer->bytes |= bytes_of(store);
  buffer->ready = std::max(buffer->ready, store.account.mark());
  owner_.buffered(store);
  if (buffer->bytes == kWhole) write(*buffer);
  return true;
}

// One message, from the first byte to the last.
void CombiningBuffers::write(Buffer& buffer) {
  buffer.leaves = true;
  const int first = std::countr_zero(buffer.bytes);
  Request& request = owner_.write_of_buffer();
  request.address = Address{buffer.line.address().value() + static_cast<std::uint64_t>(first)};
  request.size = static_cast<std::uint16_t>(64 - std::countl_zero(buffer.bytes) - first);
  request.kind = AccessKind::kWrite;
  request.lines = Request::kCombined;
  request.past = true;
  request.charge(Segment::kProcess, std::max(buffer.ready, kernel_.now()));
  owner_.send_past(request);
}

// The line may have a buffer on its way and another one that gathers: the youngest is written last.
CombiningBuffers::Buffer* CombiningBuffers::of(LineAddress line) {
  Buffer* youngest = nullptr;
  for (Buffer& each : buffers_)
    if (each.bytes != 0 && each.line == line && (!youngest || each.opened > youngest->opened))
      youngest = &each;
  return youngest;
}

bool CombiningBuffers::is_waited_for(LineAddress line) const {
  for (const Request* each = waiting_.first(); each; each = each->next)
    if (LineAddress::of(each->address) == line) return true;
  return false;
}

bool CombiningBuffers::holds_up(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  if (is_waited_for(line)) {
    waiting_.push(request);
    return true;
  }
  Buffer* const buffer = of(line);
  if (!buffer) return false;
  buffer->held_up.push(request);
  if (!buffer->leaves) write(*buffer);
  return true;
}

void CombiningBuffers::drain() {
  for (Buffer& each : buffers_)
    if (each.bytes != 0 && !each.leaves) write(each);
}

bool CombiningBuffers::drain(const std::function<bool(Address)>& which) {
  bool some = false;
  for (Buffer& each : buffers_) {
    if (each.bytes == 0 || !which(each.line.address())) continue;
    some = true;
    if (!each.leaves) write(each);
  }
  return some;
}

void CombiningBuffers::written(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  Buffer* buffer = nullptr;
  for (Buffer& each : buffers_)
    if (each.leaves && each.line == line && (!buffer || each.opened < buffer->opened)) buffer = &each;
  ensure(buffer != nullptr, "an answer to a line that no combining buffer has written");
  if (!request.failed) ++(buffer->bytes == kWhole ? counts_->full : counts_->partial);
  IntrusiveQueue<Request> held_up = buffer->held_up;
  *buffer = {};
  occupied_.change(kernel_.now(), -1);
  while (!held_up.empty()) {
    Request& next = held_up.pop();
    next.charge(Segment::kMshr, std::max(next.account.mark(), kernel_.now()));
    owner_.let_go(next);
  }
  serve();
}

// While somebody waits some buffer is on its way: all were when it came, and may have been given to those
// before it since.
void CombiningBuffers::serve() {
  while (!waiting_.empty()) {
    Request& next = waiting_.front();
    if (next.kind == AccessKind::kWrite && next.past) {
      if (!place(next)) {
        if (std::ranges::none_of(buffers_, &Buffer::leaves)) write_oldest();
        return;
      }
      waiting_.pop();
      continue;
    }
    waiting_.pop();
    if (Buffer* const buffer = of(LineAddress::of(next.address))) {
      buffer->held_up.push(next);
      if (!buffer->leaves) write(*buffer);
    } else {
      next.charge(Segment::kMshr, std::max(next.account.mark(), kernel_.now()));
      owner_.let_go(next);
    }
  }
}

void CombiningBuffers::report(MeasureSink& sink) const {
  if (used_) report_all(kCombiningMeasures, {counts_.window(), occupied_.mean()}, sink);
}

void CombiningBuffers::resources(ResourceSink& sink) const {
  sink.add({.name = "the combining buffers of",
            .stage = Stage::kCache,
            .capacity = buffers_.size(),
            .occupancy = Occupancy::kLevel,
            .measures = {"per_requester.*.combining_mean"},
            .wait = Segment::kMshr,
            .counts = Traffic::kWrites,
            .part = "requester",
            .twice = {doubled("combining_buffers", buffers_.size())},
            .twice_text = std::to_string(2 * buffers_.size()) + " buffers"});
}

std::vector<MeasureInfo> CombiningBuffers::measures() { return infos_of(kCombiningMeasures); }

}  // namespace cxloom

#include "device/cache_agent.hpp"

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "device/memory_access.hpp"

namespace cxloom {

namespace {

struct Measured {
  double hit_rate = 0;
  std::uint64_t write_backs = 0;
};

constexpr std::array kMeasures{
    measure<&Measured::hit_rate>("cache_hit_rate", "",
                                 "lookups that hit the cache / all lookups in the window"),
    measure<&Measured::write_backs>("write_backs", "",
                                    "dirty lines whose writing back to memory was completed in the window"),
};

}  // namespace

CacheAgent::CacheAgent(const CacheParams& params, Time process_time, Endpoint& endpoint,
                       const DeviceContext& context, Client& client)
    : Agent(endpoint),
      client_(client),
      access_time_(params.access_time),
      pipeline_(process_time + params.access_time),
      array_(params, context.victims, RandomStream(context.seed, endpoint.name(), "cache victims")) {}

void CacheAgent::access(Request& request) {
  request.charge(Segment::kCache, request.account.mark + access_time_);
  const LineAddress line = LineAddress::of(request.address);
  if (window_open_) ++lookups_;
  if (misses_.find(line)) {  // asked for already: wait for the same answer
    misses_.add(line, request);
    return;
  }
  if (const Slot slot = array_.lookup(line); slot != kNoSlot) {
    array_.touch(slot);
    if (request.kind == AccessKind::kWrite) array_.mark_dirty(slot);
    if (window_open_) ++hits_;
    answer_later(request);
    return;
  }
  misses_.add(line, request);
  send_request(*this, request, Opcode::kMemRd, line.address(), kLineBytes);
}

void CacheAgent::answer_later(Request& request) {
  endpoint().kernel().schedule(request.account.mark, endpoint().source(), *this, 0,
                               reinterpret_cast<std::uintptr_t>(&request));
}

void CacheAgent::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  client_.answered(*reinterpret_cast<Request*>(payload));
  client_.go_on();
}

void CacheAgent::receive(Message& message) {
  endpoint().release(message, endpoint().now());
  if (message.account) {
    fill(message);
  } else {
    const NodeId target = message.source;
    const std::uint16_t size = message.size;
    write_backs_.give_back(message);
    if (window_open_ && size > 0) ++write_backs_completed_;
    client_.written_back(target, size);
  }
  client_.go_on();
}

void CacheAgent::fill(const Message& message) {
  const NodeId target = message.source;
  const std::uint16_t hops = message.hops;
  const bool failed = message.failed;
  const LineAddress line = LineAddress::of(message.address);
  Request* waiting = misses_.take(line);
  if (!failed) keep_line(line, *waiting);
  while (waiting) {
    Request& request = *waiting;
    waiting = request.next;
    request.target = target;
    request.failed = failed;
    request.message.hops = hops;
    if (request.account.mark > endpoint().now()) {  // its own lookup is still going on
      answer_later(request);
    } else {
      request.charge(Segment::kMshr, endpoint().now());
      client_.answered(request);
    }
  }
}

// The line that these requests waited for goes into the cache, and a dirty victim of its back to memory.
void CacheAgent::keep_line(LineAddress line, const Request& waiting) {
  bool dirty = false;
  for (const Request* request = &waiting; request; request = request->next)
    dirty |= request->kind == AccessKind::kWrite;
  const auto insertion = array_.insert(line, dirty ? LineState::kDirty : LineState::kClean);
  if (!insertion.evicted_dirty()) return;
  // A write-back passes the pipeline that requests pass, and so keeps its place among them.
  send_write_back(*this, write_backs_.take(), insertion.victim, endpoint().now() + pipeline_);
}

void CacheAgent::open_window(Time /*now*/) { window_open_ = true; }

void CacheAgent::close_window(Time /*now*/) { window_open_ = false; }

std::vector<MeasureInfo> CacheAgent::measures() { return infos_of(kMeasures); }

void CacheAgent::report(MeasureSink& sink) const {
  report_all(kMeasures,
             {.hit_rate = lookups_ > 0 ? static_cast<double>(hits_) / static_cast<double>(lookups_) : 0.0,
              .write_backs = write_backs_completed_},
             sink);
}

}  // namespace cxloom

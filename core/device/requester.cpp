#include "device/requester.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cxloom {

namespace {

constexpr MeasureInfo kRequests{"requests", "", "requests completed in the window"};
constexpr MeasureInfo kBandwidth{
    "bandwidth_gb_per_s", "GB/s",
    "payload bytes exchanged with memory, write-backs included / length of the window"};
constexpr MeasureInfo kInFlight{"in_flight_mean", "", "requests in flight, mean over time"};
constexpr MeasureInfo kHitRate{"cache_hit_rate", "",
                               "lookups that hit the cache / all lookups in the window"};
constexpr MeasureInfo kWriteBacks{"write_backs", "",
                                  "dirty lines whose writing back to memory was completed in the window"};

// Dependences reach back at most this many times the queue; see is_outstanding.
constexpr std::uint64_t kReorderFactor = 16;

std::uint64_t reorder_window(std::uint32_t queue) {
  return std::max<std::uint64_t>(1024, std::bit_ceil(queue * kReorderFactor));
}

std::uint32_t lines_of(const Access& access) {
  const std::uint64_t reach = access.address.value() % kLineBytes + std::max<std::uint64_t>(access.size, 1);
  return static_cast<std::uint32_t>((reach + kLineBytes - 1) / kLineBytes);
}

// A request in flight, its places in the queues and the event that it waits for. The tables of all of these grow to twice
// their size when they are full.
constexpr std::uint64_t kBytesInFlight = 2 * (sizeof(Request) + 128);

}  // namespace

void RequesterParams::estimate(const RequesterParams& params, MemoryEstimate& memory) {
  const std::uint64_t in_flight = std::min<std::uint64_t>(params.queue, memory.accesses());
  memory.add("queue", std::to_string(params.queue), 1,
             in_flight * kBytesInFlight + reorder_window(params.queue) / 8);
  if (params.cache)
    memory.add_below("cache", [&](MemoryEstimate& inside) { CacheParams::estimate(*params.cache, inside); });
}

Requester::Requester(const RequesterParams& params, const DeviceContext& context)
    : Component(context),
      params_(params),
      fabric_(context.fabric),
      arrival_random_(context.seed, context.name, "arrivals"),
      window_mask_(reorder_window(params.queue) - 1),
      slots_(context.kernel, "a queue slot", *this),
      dependences_(context.kernel, "the answer to an access that it depends on", *this),
      write_back_buffer_(context.kernel, "room in the write-back buffer", *this) {
  set_owner(*this);
  fabric_.roles.requesters.declare(*this, id(), *this);
  fabric_.roles.io_targets.declare(*this, id(), *this);
  if (params.cache) {
    cache_ = std::make_unique<CacheArray>(*params.cache,
                                          RandomStream(context.seed, context.name, "cache victims"));
  }
}

void Requester::assign(Work work, RequestObserver& observer) {
  work_ = std::move(work);
  observer_ = &observer;
  arrival_meter_ = RateMeter(work_.rate);
  outstanding_.resize((window_mask_ + 1) / 64);
  wants_answers_ = work_.stream->wants_answers();
}

void Requester::resume() {
  if (!has_next_) fetch();
  issue_what_can_be_issued();
  end_if_out_of_work();
}

void Requester::cease() {
  if (!has_work() || work_.stream->open()) return;
  if (waiting_in_) waiting_in_->leave(*this);
  waiting_in_ = nullptr;
  ceased_ = exhausted_ = true;
  has_next_ = false;
}

void Requester::start() {
  if (!has_work()) return;
  if (work_.arrivals == Arrivals::kPoisson) next_arrival_ = arrival_after(Time{});
  fetch();
  wake_at(open_loop() ? next_arrival_ : Time{}, kIssue);
}

std::optional<std::uint64_t> Requester::expected() const {
  if (ceased_) return issued_;
  if (work_.requests) return issued_before_window() + *work_.requests;
  return has_work() ? work_.stream->length() : std::optional<std::uint64_t>(0);
}

void Requester::fetch() {
  has_next_ = !has_enough() && work_.stream->next(next_);
  has_gaps_ |= next_.instruction_gap != 0;
  exhausted_ = !has_next_ && !work_.stream->open();
  if (exhausted_ && !counting_ && issued_ <= work_.warmup) {
    throw InputError({"the work ends during the warm-up",
                      counted(issued_, "access"),
                      "more accesses than run.warmup, which is " + std::to_string(work_.warmup),
                      {}},
                     work_.name);
  }
  if (has_next_ && work_.timestamps) {
    if (!next_.timed) {
      throw InputError({"access " + std::to_string(issued_) + " has no timestamp", {}, "replay: closed", {}},
                       work_.name);
    }
    next_arrival_ = std::max(next_arrival_, next_.timestamp);
  }
}

Time Requester::arrival_after(Time previous) {
  if (work_.arrivals == Arrivals::kFixed) return previous + arrival_meter_.advance(1);
  const double mean =
      static_cast<double>(work_.rate.numerator()) / static_cast<double>(work_.rate.denominator());
  return previous + Time{std::llround(arrival_random_.exponential() * mean)};
}

Time Requester::earliest_issue() const {
  if (issued_ == 0) return open_loop() ? next_arrival_ : Time{};
  const Time gap = params_.instruction_time * next_.instruction_gap;
  const Time spaced = last_issue_ + std::max(params_.issue_interval, gap);
  return open_loop() ? std::max(next_arrival_, spaced) : spaced;
}

Requester::Obstacle Requester::obstacle() const {
  if (earliest_issue() > now()) return Obstacle::kTime;
  if (in_flight_ == params_.queue) return Obstacle::kSlot;
  if (write_backs_ >= params_.queue) return Obstacle::kWriteBack;
  // The bit of an access serves again one window later: what is older than a window has been answered.
  if (is_outstanding(issued_)) return Obstacle::kDependence;
  const std::uint64_t distance = next_.dependence;
  if (distance != 0 && distance <= window_mask_ && distance <= issued_ &&
      is_outstanding(issued_ - distance)) {
    return Obstacle::kDependence;
  }
  return Obstacle::kNone;
}

void Requester::wait_for(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNone: return;
    case Obstacle::kTime: {
      const Time when = earliest_issue();
      if (wake_pending_ == when) return;
      wake_pending_ = when;
      wake_at(when, kIssue);
      return;
    }
    case Obstacle::kSlot: waiting_in_ = &slots_; break;
    case Obstacle::kDependence: waiting_in_ = &dependences_; break;
    case Obstacle::kWriteBack: waiting_in_ = &write_back_buffer_; break;
  }
  waiting_in_->join(*this, now());
}

void Requester::issue_what_can_be_issued() {
  if (waiting_in_) {
    waiting_in_->leave(*this);
    waiting_in_ = nullptr;
  }
  while (has_next_) {
    if (const Obstacle found = obstacle(); found != Obstacle::kNone) {
      wait_for(found);
      return;
    }
    issue();
    fetch();
    end_if_out_of_work();
  }
}

void Requester::issue() {
  Request& request = requests_.take();
  request.id = issued_;
  request.address = next_.address;
  request.kind = next_.kind;
  request.size = next_.size;
  request.thread = next_.thread;
  request.requester = id();
  request.target = id();
  request.created = request.account.mark = open_loop() ? next_arrival_ : now();
  request.charge(Segment::kRequesterQueue, now());
  request.charge(Segment::kProcess, now() + params_.process_time);
  if (issued_ == work_.warmup) observer_->measuring_begins(now());
  mark_outstanding(issued_);
  ++issued_;
  ++in_flight_;
  in_flight_monitor_.change(now(), +1);
  last_issue_ = now();
  if (!work_.rate.unlimited()) next_arrival_ = arrival_after(next_arrival_);
  request.lines = lines_of(next_);
  if (request.lines == 1) {
    access_memory(request);
  } else {
    access_lines(request);
  }
}

// Each line has an account of its own, which begins as a copy of the access's.
void Requester::access_lines(Request& request) {
  request.pending = request.lines;
  std::uint64_t at = request.address.value();
  for (std::uint64_t left = request.size; left > 0;) {
    const std::uint64_t part = std::min(left, kLineBytes - at % kLineBytes);
    Request& line = requests_.take();
    line.parent = &request;
    line.id = request.id;
    line.kind = request.kind;
    line.thread = request.thread;
    line.requester = line.target = id();
    line.created = request.created;
    line.account = request.account;
    line.address = Address{at};
    line.size = static_cast<std::uint16_t>(part);
    access_memory(line);
    at += part;
    left -= part;
  }
}

void Requester::access_memory(Request& request) {
  if (cache_) {
    look_up_cache(request);
  } else {
    send(request.kind == AccessKind::kRead ? Opcode::kMemRd : Opcode::kMemWr, request.address, request.size,
         &request, request.account.mark);
  }
}

void Requester::look_up_cache(Request& request) {
  request.charge(Segment::kCache, request.account.mark + params_.cache->access_time);
  const LineAddress line = LineAddress::of(request.address);
  if (window_open_) ++lookups_;
  if (misses_.find(line)) {  // asked for already: wait for the same answer
    misses_.add(line, request);
    return;
  }
  if (const Slot slot = cache_->lookup(line); slot != kNoSlot) {
    cache_->touch(slot);
    if (request.kind == AccessKind::kWrite) cache_->mark_dirty(slot);
    if (window_open_) ++hits_;
    wake_at(request.account.mark, kAnswered, reinterpret_cast<std::uintptr_t>(&request));
    return;
  }
  misses_.add(line, request);
  send(Opcode::kMemRd, line.address(), kLineBytes, &request, request.account.mark);
}

InputError Requester::no_region(std::uint64_t access, Address address) const {
  return InputError({"access " + std::to_string(access) + " goes to an address that no region holds",
                     to_text(address),
                     fabric_.map.described() + " (addresses: first-touch maps a program's pages there)",
                     {}},
                    work_.name);
}

void Requester::read_through() {
  const std::uint64_t least =
      work_.requests ? work_.warmup + *work_.requests : std::numeric_limits<std::uint64_t>::max();
  for (; has_next_ && issued_ < least; fetch()) {
    Address at = next_.address;
    for (std::uint32_t rest = lines_of(next_); rest > 0; --rest, at = LineAddress::of(at).next().address()) {
      if (!fabric_.map.find(at)) throw no_region(issued_, at);
    }
    ++issued_;
  }
}

void Requester::send(Opcode opcode, Address address, std::uint16_t size, Request* request, Time ready) {
  const auto place = fabric_.map.find(address);
  if (!place) [[unlikely]]
    throw no_region(request ? request->id : issued_, address);
  Message& message = request ? request->message : fabric_.messages.take();
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.address = address;
  message.size = size;
  message.requester = message.source = id();
  message.destination = place->target;
  if (request) {
    message.account = &request->account;
    message.tag = request->index;
    message.age = request->created;
  }
  if (place->target == id()) {
    serve_locally(message, ready);
  } else {
    transmit(message, ready);
  }
}

void Requester::transmit(Message& message, Time ready) {
  Port& out = port(port_count() == 1 ? 0 : fabric_.router->port(message, id()));
  if (shares_ports_ && out.queues() && ready > now()) {
    wake_at(ready, kTransmit, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    out.send(message, ready);
  }
}

void Requester::expect_io() {
  share_ports();
  if (!io_) {
    io_ = std::make_unique<IoCompleter>(kernel(), fabric_, static_cast<IoCompleter::Device&>(*this),
                                        params_.io_time);
  }
}

void Requester::receive(Message& message) {
  port(message.port).release(message, now());
  if (message.channel == Channel::kIo) [[unlikely]] {
    io_->serve(message);
    return;
  }
  answered(message);
}

void Requester::answered(Message& message) {
  if (!message.account) {
    --write_backs_;
    if (window_open_ && message.size > 0) {
      payload_ += message.size;
      ++write_backs_completed_;
    }
    observer_->written_back(id(), message.source, message.size);
    fabric_.messages.give_back(message);
  } else {
    Request& request = requests_.at(message.tag);
    request.target = message.source;
    request.failed = message.failed;
    if (cache_) {
      fill(LineAddress::of(message.address), request);
    } else {
      complete(request);
    }
  }
  issue_what_can_be_issued();
}

void Requester::fill(LineAddress line, const Request& first) {
  const NodeId target = first.target;
  const std::uint16_t hops = first.message.hops;
  const bool failed = first.failed;
  Request* waiting = misses_.take(line);
  if (!failed) keep_line(line, *waiting);
  while (waiting) {
    Request& request = *waiting;
    waiting = request.next;
    request.target = target;
    request.failed = failed;
    request.message.hops = hops;
    if (request.account.mark > now()) {  // its own lookup is still going on
      wake_at(request.account.mark, kAnswered, reinterpret_cast<std::uintptr_t>(&request));
    } else {
      request.charge(Segment::kMshr, now());
      complete(request);
    }
  }
}

// The line that these requests waited for goes into the cache, and a dirty victim of its back to memory.
void Requester::keep_line(LineAddress line, const Request& waiting) {
  bool dirty = false;
  for (const Request* request = &waiting; request; request = request->next)
    dirty |= request->kind == AccessKind::kWrite;
  const auto insertion = cache_->insert(line, dirty ? LineState::kDirty : LineState::kClean);
  if (insertion.evicted_dirty()) {
    ++write_backs_;
    // A write-back passes the pipeline that requests pass, and so keeps its place among them.
    send(Opcode::kMemWr, insertion.victim.address(), kLineBytes, nullptr,
         now() + params_.process_time + params_.cache->access_time);
  }
}

// Of an access of several lines: the last one answered is what it waited for. Their bytes count as each is answered.
void Requester::complete_line(Request& line) {
  Request& request = *line.parent;
  line.moved = line.message.size;
  request.failed |= line.failed;
  if (window_open_) payload_ += line.moved;
  observer_->line_completed(line, now());
  if (--request.pending == 0) {
    request.account = line.account;
    request.target = line.target;
    request.message.hops = line.message.hops;
    complete(request);
  }
  requests_.give_back(line);
}

void Requester::complete(Request& request) {
  ensure(request.account.mark == now(), "a request whose time is not accounted for");
  if (request.parent) {
    complete_line(request);
    return;
  }
  if (request.lines == 1) request.moved = request.message.size;
  mark_outstanding(request.id);
  ++completed_;
  --in_flight_;
  in_flight_monitor_.change(now(), -1);
  if (window_open_) {
    latency_.add(now() - request.created);
    if (latency_.count() == batches_.next()) [[unlikely]]
      batches_.close(latency_.sum_ps());
    payload_ += request.moved;
  }
  observer_->completed(request, now());
  if (wants_answers_) work_.stream->answered(request, now());
  requests_.give_back(request);
  if (counting_) ++completed_since_opening_;
  end_if_out_of_work();
}

// As many requests have been answered since the window opened as were issued: what is still on its way has the place of
// what was on its way then.
void Requester::end_if_out_of_work() {
  if (!exhausted_ || ended_ || !counting_ || completed_since_opening_ < issued_ - issued_before_window_)
    return;
  ended_ = true;
  observer_->work_ends(now());
}

void Requester::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kTransmit: transmit(*reinterpret_cast<Message*>(payload), now()); return;
    case kAnswered: complete(*reinterpret_cast<Request*>(payload)); break;
    default: wake_pending_ = Time{-1};
  }
  issue_what_can_be_issued();
}

// Whoever ran out of work before has no part in how long the window is.
void Requester::open_window(Time at) {
  window_open_ = counting_ = true;
  issued_before_window_ = issued_;
  ended_ = exhausted_;
  opened_ = at;
  in_flight_monitor_.open(at);
}

void Requester::close_window(Time at) {
  window_open_ = false;
  closed_ = at;
  in_flight_monitor_.close(at);
}

std::vector<MeasureInfo> Requester::measures() {
  return {kRequests, kBandwidth, kInFlight, kHitRate, kWriteBacks};
}

void Requester::report(MeasureSink& sink) const {
  const double length = (closed_ - opened_).ns();
  sink.count(kRequests, latency_.count());
  sink.add(kBandwidth, length > 0.0 ? static_cast<double>(payload_) / length : 0.0);
  sink.add(kInFlight, in_flight_monitor_.mean());
  if (!cache_) return;
  sink.add(kHitRate, lookups_ > 0 ? static_cast<double>(hits_) / static_cast<double>(lookups_) : 0.0);
  sink.count(kWriteBacks, write_backs_completed_);
}

std::string Requester::activity() const {
  if (outstanding() == 0) return {};
  return counted(in_flight_, "request") + " and " + counted(write_backs_, "write-back") +
         " without an answer, " + std::to_string(completed_) + " answered";
}

}  // namespace cxloom

#include "device/requester/sequencer.hpp"

#include <algorithm>
#include <utility>

#include "base/measure_table.hpp"
#include "coherence/common/write_pull.hpp"
#include "component/component_time.hpp"
#include "component/line_versions.hpp"
#include "component/resource.hpp"
#include "device/requester/access_check.hpp"
#include "device/requester/uncached_access.hpp"

namespace cxloom {

namespace {

struct SequencerMeasured {
  std::optional<Value> throttle;
  std::optional<Value> pages;
};

constexpr std::array kSequencerMeasures{
    measure<&SequencerMeasured::throttle>(
        "throttle", "",
        "measures of its requests to each memory, by the memory's name. Absent without a throttle",
        parts_of<kThrottleMeasures>(true)),
    measure<&SequencerMeasured::pages>(
        "pages", "",
        "its pages in each memory at the end of the run, by the memory's name. Absent where its addresses "
        "are physical"),
};

}  // namespace

Time Sequencer::now() const { return endpoint().now(); }

void Sequencer::wake_at(Time at) { endpoint().kernel().schedule(at, endpoint().source(), *this, 0, 0); }

Sequencer::Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context)
    : Agent(endpoint),
      process_time_(params.process_time),
      queue_(params.queue),
      issue_interval_(params.issue_interval),
      instruction_time_(params.instruction_time),
      slots_(context.kernel, "a queue slot", endpoint),
      window_(params.queue),
      requests_(context.kernel.arena().memory()),
      arrivals_(context.seed, context.name),
      dependences_(context.kernel, "the answer to an access that it depends on", endpoint),
      write_back_buffer_(context.kernel, "room in the write-back buffer", endpoint),
      fence_(context.kernel, "the answers to all accesses before a fence", endpoint),
      completion_timeout_(params.completion_timeout),
      core_params_(params.core) {
  endpoint.add(*this);
  endpoint.system_context().roles.declare<cxloom::Requester>(endpoint, endpoint.id(), *this);
  Agent* taker = this;
  if (params.cache) {
    cache_ = with_path("cache", [&] {
      return std::make_unique<CacheAgent>(*params.cache, params.process_time, endpoint, context,
                                          CacheKinds{context.victims, context.prefetchers},
                                          static_cast<CacheAgent::Client&>(*this), params.atomics);
    });
    taker = cache_.get();
  }
  if (params.throttle) {
    throttle_ = std::make_unique<RequestThrottle>(*params.throttle, context.kernel, *taker);
    endpoint.set_throttle(*throttle_);
  }
  for (const Channel answers : {Channel::kS2MNDR, Channel::kS2MDRS, Channel::kH2DRsp, Channel::kH2DData})
    endpoint.bind(answers, *taker);
  if (!cache_) return;
  for (const Channel snoops : {Channel::kS2MBISnp, Channel::kH2DReq, Channel::kD2HReq})
    endpoint.bind(snoops, *cache_);
}

void Sequencer::assign(Work work, RequestObserver& observer) {
  work_ = std::move(work);
  observer_ = &observer;
  arrivals_.begin(work_);
  window_.prepare();
  pages_ = work_.stream->movable_pages();
  if (core_params_) {
    auto cores = std::make_unique<CoreCluster>(*core_params_, queue_, work_, endpoint(),
                                               static_cast<CoreCluster::Requester&>(*this));
    cores_ = cores.get();
    work_.stream = std::move(cores);
  }
  if (work_.tiering) begin_tiering();
  wants_answers_ = work_.stream->wants_answers();
  // Data that a home pulls go at once, and requests on their way through `process_time` after them.
  if (!cache_ && process_time_ > Time{} && endpoint().system_context().map.has_coherent())
    endpoint().send_as_ready();
}

void Sequencer::resume() {
  if (cores_) cores_->resume();
  take_made();
}

void Sequencer::take_made() {
  if (!has_next_) fetch();
  issue_what_can_be_issued();
  end_if_out_of_work();
}

void Sequencer::cease() {
  if (!has_work() || work_.stream->from_outside()) return;
  if (waiting_in_) waiting_in_->leave(*this);
  waiting_in_ = nullptr;
  ceased_ = exhausted_ = true;
  has_next_ = false;
}

void Sequencer::start() {
  if (cache_) cache_->start();
  if (throttle_) throttle_->start();
  if (!has_work()) return;
  if (tiering_) tiering_->start();
  if (!cores_) fetch();
  wake_at(arrivals_.open_loop() ? arrivals_.next() : Time{});
}

cxloom::Requester::Traits Sequencer::traits() const {
  return {.has_cores = core_params_.has_value(),
          .times_instructions = instruction_time_ > Time{},
          .throttles = throttle_ != nullptr,
          .sets_completion_timeout = completion_timeout_.has_value(),
          .completion_timeout = completion_timeout_.value_or(kCompletionTimeout)};
}

cxloom::Requester::Progress Sequencer::progress() const {
  const bool outside = has_work() && work_.stream->from_outside();
  return {.trace_ended = exhausted_ && !has_enough() && !outside,
          .waits_for_outside = outside && work_.stream->open() && !has_next_ && outstanding() == 0,
          .open_loop = arrivals_.open_loop(),
          .has_instruction_gaps = has_gaps_,
          .warmup = work_.warmup,
          .issued = issued_,
          .issued_before_window = issued_before_window(),
          .expected = expected(),
          .write_backs = write_backs(),
          .live_requests = requests_.live(),
          .volatile_flushes = volatile_flushes_};
}

std::optional<std::uint64_t> Sequencer::expected() const {
  if (ceased_) return issued_;
  if (work_.requests) return issued_before_window() + *work_.requests;
  return has_work() ? work_.stream->length() : std::optional<std::uint64_t>(0);
}

void Sequencer::fetch() {
  has_next_ = !has_enough() && work_.stream->next(next_);
  if (places_ && has_next_) [[unlikely]]
    next_page_ = pages_->place(next_);
  has_gaps_ |= next_.instruction_gap != 0;
  exhausted_ = !has_next_ && (has_enough() || !work_.stream->open());
  // What cores do in their caches alone takes time, too.
  if (exhausted_ && !counting_ && cores_ && work_.warmup == 0 && issued_ == 0)
    observer_->measuring_begins(now());
  if (exhausted_ && !counting_ && issued_ <= work_.warmup && !(cores_ && work_.warmup == 0)) {
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
    arrivals_.at_timestamp(next_.timestamp);
  }
  earliest_ = earliest_issue();
}

Time Sequencer::earliest_issue() const {
  if (issued_ == 0) return arrivals_.open_loop() ? arrivals_.next() : Time{};
  const Time gap = instruction_time_ * next_.instruction_gap;
  const Time spaced = last_issue_ + std::max(issue_interval_, gap);
  return arrivals_.open_loop() ? std::max(arrivals_.next(), spaced) : spaced;
}

Sequencer::Obstacle Sequencer::obstacle() const {
  if (earliest_ > now()) return Obstacle::kTime;
  if (in_flight_ == queue_) return Obstacle::kSlot;
  if (cache_ && cache_->victims() >= queue_) return Obstacle::kWriteBack;
  if (!window_.allows(issued_, next_.dependence)) return Obstacle::kDependence;
  if (next_.dependence == kAllBefore && in_flight_ > 0) return Obstacle::kFence;
  if (mover_ && !places_ && mover_->holds(next_.address, next_.size)) [[unlikely]]
    return Obstacle::kPage;
  if (stopped_ > 0 && !cores_) [[unlikely]]
    return Obstacle::kKernel;
  return Obstacle::kNone;
}

void Sequencer::wait_for(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNone: return;
    case Obstacle::kTime: {
      if (wake_pending_ == earliest_) return;
      wake_pending_ = earliest_;
      wake_at(earliest_);
      return;
    }
    case Obstacle::kSlot: waiting_in_ = &slots_; break;
    case Obstacle::kDependence: waiting_in_ = &dependences_; break;
    case Obstacle::kWriteBack: waiting_in_ = &write_back_buffer_; break;
    case Obstacle::kPage:
      waiting_in_ = &mover_->list();
      if (page_since_ < Time{}) page_since_ = now();
      break;
    case Obstacle::kKernel: waiting_in_ = &mover_->list(); break;
    case Obstacle::kFence:
      waiting_in_ = &fence_;
      if (fence_since_ < Time{}) fence_since_ = now();
      break;
  }
  waiting_in_->join(*this, now());
}

void Sequencer::issue_what_can_be_issued() {
  if (waiting_in_) {
    waiting_in_->leave(*this);
    waiting_in_ = nullptr;
  }
  while (has_next_) {
    earliest_ = std::max(earliest_, kernel_until_);
    if (const Obstacle found = obstacle(); found != Obstacle::kNone) {
      wait_for(found);
      return;
    }
    issue();
    fetch();
    end_if_out_of_work();
  }
}

void Sequencer::pass_fence() {
  const Time since = std::exchange(fence_since_, Time{-1});
  meter_.passed_fence(since >= Time{} ? now() - since : Time{});
}

void Sequencer::issue() {
  if (next_.dependence == kAllBefore) [[unlikely]]
    pass_fence();
  if (page_since_ >= Time{}) [[unlikely]]
    mover_->waited(now() - std::exchange(page_since_, Time{-1}));
  Request& request = requests_.take();
  request.id = issued_;
  request.address = next_.address;
  request.kind = next_.kind;
  request.size = next_.size;
  if (next_.kind == AccessKind::kFlush) [[unlikely]] {
    request.keeps = next_.keeps;
    request.brings = next_.brings;
  }
  if (next_.thread != 0) request.set_thread(next_.thread);
  const Time now = this->now();
  const NodeId self = endpoint().id();
  request.target = self;
  request.begin(self, arrivals_.open_loop() ? arrivals_.next() : now);
  request.charge(Segment::kRequesterQueue, now);
  request.charge(Segment::kProcess, now + process_time_);
  if (issued_ == work_.warmup) observer_->measuring_begins(now);
  window_.flip(issued_);
  ++issued_;
  ++in_flight_;
  meter_.issued(now);
  last_issue_ = now;
  arrivals_.advance();
  request.lines = next_.lines();
  if (places_ && stops(request)) [[unlikely]]
    return;
  access(request);
}

void Sequencer::access(Request& request) {
  if (request.lines == 1) {
    access_memory(request);
  } else {
    access_lines(request);
  }
}

// Each line has an account of its own, which begins as a copy of the access's.
void Sequencer::access_lines(Request& request) {
  request.pending = request.lines;
  std::uint64_t at = request.address.value();
  for (std::uint64_t left = request.size; left > 0;) {
    const std::uint64_t part = std::min(left, kLineBytes - at % kLineBytes);
    Request& line = requests_.take();
    line.parent = &request;
    line.lines = Request::kPart;
    line.id = request.id;
    line.kind = request.kind;
    line.keeps = request.keeps;
    line.brings = request.brings;
    line.set_thread(request.thread());
    line.target = endpoint().id();
    line.begin(endpoint().id(), request.created());
    line.account = request.account;
    line.address = Address{at};
    line.size = static_cast<std::uint16_t>(part);
    access_memory(line);
    at += part;
    left -= part;
  }
}

void Sequencer::access_memory(Request& request) {
  try {
    if (request.kind == AccessKind::kFlush) [[unlikely]]
      volatile_flushes_ += check_durable(*this, work_, request.id, request.address) ? 0 : 1;
    if (cache_) {
      cache_->access(request);
    } else {
      send_uncached(*this, request);
    }
  } catch (const InputError& error) {
    throw error.with_path(work_.name);
  }
}

void Sequencer::check_mapped(const Access& access) const {
  with_path(work_.name, [&] { cxloom::check_mapped(*this, work_, issued_, access); });
}

void Sequencer::read_through(std::uint64_t most) {
  const std::uint64_t least = work_.requests ? std::min(most, work_.warmup + *work_.requests) : most;
  if (cores_) {
    for (; issued_ < least && !cores_->workload().repeats() && cores_->workload().next(next_); ++issued_) {
      if (places_ && next_.reaches_memory()) pages_->place(next_);
      has_gaps_ |= next_.instruction_gap != 0;
      if (next_.reaches_memory()) check_mapped(next_);
    }
    return;
  }
  for (; has_next_ && issued_ < least && !work_.stream->repeats(); fetch()) {
    check_mapped(next_);
    ++issued_;
  }
}

void Sequencer::receive(Message& message) {
  endpoint().release(message, now());
  if (throttle_) [[unlikely]]
    throttle_->observe(message);
  if (message.persistent && endpoint().system_context().versions) [[unlikely]]
    endpoint().system_context().versions->returns(message);
  if (message.opcode == Opcode::kWritePull || message.opcode == Opcode::kGoWritePull)
    send_pulled_data(*this, message, now());
  if (message.channel == Channel::kD2HData) return;  // the answer to the write comes when they are there
  Request& request = requests_.at(message.tag);
  request.failed = message.failed;
  if (message.failed || request.target == endpoint().id()) request.target = message.source;
  complete(request);
  go_on();
}

void Sequencer::written_back(NodeId target, std::uint16_t bytes) {
  meter_.moved(bytes);
  observer_->written_back(endpoint().id(), target, bytes);
}

void Sequencer::prefetched(NodeId target, std::uint16_t bytes) {
  meter_.moved(bytes);
  observer_->prefetched(endpoint().id(), target, bytes);
}

// An access of several lines waited for the last one answered. Bytes count as each line is answered.
void Sequencer::complete_line(Request& line) {
  Request& request = *line.parent;
  request.failed |= line.failed;
  meter_.moved(line.moved());
  observer_->line_completed(line, now());
  if (--request.pending == 0) {
    request.account = line.account;
    request.target = line.target;
    request.message.hops = line.message.hops;
    complete(request);
  }
  requests_.give_back(line);
}

void Sequencer::complete(Request& request) {
  const Time now = this->now();
  ensure(request.account.mark() == now, "a request whose time is not accounted for");
  if (request.is_part()) {
    complete_line(request);
    return;
  }
  if (request.is_copy()) [[unlikely]] {
    copied(request);
    return;
  }
  window_.flip(request.id);
  ++completed_;
  --in_flight_;
  meter_.completed(request, now);
  observer_->completed(request, now);
  if (mover_) [[unlikely]]
    mover_->completed(request.id);
  if (tiering_) [[unlikely]]
    tiering_->completed(request, now);
  if (wants_answers_) work_.stream->answered(request.id, request, now);
  requests_.give_back(request);
  if (counting_) ++completed_since_opening_;
  end_if_out_of_work();
}

// As many requests have been answered since the window opened as were issued: what is still on its way has
// the place of what was on its way then.
void Sequencer::end_if_out_of_work() {
  if (!exhausted_ || ended_ || !counting_ || completed_since_opening_ < issued_ - issued_before_window_)
    return;
  ended_ = true;
  observer_->work_ends(now());
}

void Sequencer::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  wake_pending_ = Time{-1};
  if (cores_) return take_made();
  issue_what_can_be_issued();
}

void Sequencer::go_on() {
  if (cores_) {
    take_made();
  } else {
    issue_what_can_be_issued();
  }
  if (exhausted_ && outstanding() == 0) observer_->rests();
}

// Whoever ran out of work before has no part in how long the window is.
void Sequencer::open_window(Time at) {
  counting_ = true;
  issued_before_window_ = issued_;
  ended_ = exhausted_;
  meter_.open_window(at);
  if (cores_) cores_->open_window(issued_ == 0);
  if (cache_) cache_->open_window(at);
  if (throttle_) throttle_->open_window(at);
}

void Sequencer::close_window(Time at) {
  meter_.close_window(at);
  if (cores_) cores_->close_window();
  if (cache_) cache_->close_window(at);
  if (throttle_) throttle_->close_window(at);
}

std::vector<MeasureInfo> Sequencer::measures() {
  std::vector<MeasureInfo> all = joined(RequesterMeter::measures(), infos_of(kSequencerMeasures));
  all = joined(joined(std::move(all), PageMover::measures()), TieringAgent::measures());
  return joined(joined(std::move(all), CoreCluster::measures()), CacheAgent::measures());
}

void Sequencer::report_requests(MeasureSink& sink) const {
  meter_.report(sink);
  SequencerMeasured measured;
  if (throttle_) measured.throttle = throttle_->report();
  if (has_work()) measured.pages = work_.stream->pages_by_node();
  report_all(kSequencerMeasures, measured, sink);
  if (mover_) mover_->report(sink);
  if (tiering_) tiering_->report(sink);
  if (cores_) cores_->report(sink);
  if (cache_) cache_->report(sink);
}

void Sequencer::resources(ResourceSink& sink) const {
  sink.add({.name = "the queue of",
            .stage = Stage::kRequester,
            .capacity = queue_,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_requester.*.in_flight_mean"},
            .wait = Segment::kRequesterQueue,
            .counts = Traffic::kRequests,
            .part = "requester",
            .twice = {doubled("queue", queue_)},
            .twice_text = std::to_string(2 * std::uint64_t{queue_}) + " in flight"});
  if (issue_interval_ > Time{}) {
    sink.add(
        {.name = "the time between two issues of",
         .stage = Stage::kRequester,
         .capacity = 1e9 / issue_interval_.ns(),
         .occupancy = Occupancy::kRate,
         .measures = {"per_requester.*.requests"},
         .wait = Segment::kRequesterQueue,
         .counts = Traffic::kRequests,
         .part = "requester",
         .twice = {{"issue_interval", to_text(Time{std::max<std::int64_t>(issue_interval_.ps() / 2, 1)})}},
         .twice_text = "half the time"});
  }
  if (core_params_) {
    const std::uint32_t registers = core_params_->mshrs;
    sink.add({.name = "the miss registers (MSHRs) of the core of",
              .stage = Stage::kRequester,
              .capacity = registers,
              .occupancy = Occupancy::kLevel,
              .measures = {"per_requester.*.in_flight_mean"},
              .wait = Segment::kRequesterQueue,
              .counts = Traffic::kLines,
              .part = "requester",
              .twice = {doubled("core.mshrs", registers)},
              .twice_text = std::to_string(2 * std::uint64_t{registers}) + " registers",
              .full_from = 0.95,
              .each = "per_requester.*.core.threads"});
  }
  if (cache_) cache_->resources(sink);
}

std::string Sequencer::activity() const {
  if (outstanding() == 0) return {};
  const std::string ahead = prefetches() > 0 ? " and " + counted(prefetches(), "prefetched line") : "";
  return counted(in_flight_, "request") + " and " + counted(write_backs(), "write-back") + ahead +
         " without an answer, " + std::to_string(completed_) + " answered";
}

}  // namespace cxloom

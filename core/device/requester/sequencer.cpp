#include "device/requester/sequencer.hpp"

#include <algorithm>
#include <utility>

#include "base/arena.hpp"
#include "coherence/common/write_pull.hpp"
#include "component/component_time.hpp"
#include "component/line_versions.hpp"
#include "component/resource.hpp"
#include "component/shared_lines.hpp"
#include "device/requester/access_check.hpp"

namespace cxloom {

Time Sequencer::now() const { return endpoint().now(); }
void Sequencer::wake_at(Time at) { endpoint().kernel().schedule(at, endpoint().source(), *this, kIssue, 0); }

Sequencer::Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context)
    : Agent(endpoint),
      process_time_(params.process_time),
      queue_(params.queue),
      slots_(context.kernel, "a queue slot", endpoint),
      window_(params.queue),
      requests_(context.kernel.arena().memory()),
      meter_(context.kernel),
      source_(params, context),
      past_(params.combining_buffers, params.process_time, endpoint,
            static_cast<PastCaches::PastSender&>(*this)),
      dependences_(context.kernel, "the answer to an access that it depends on", endpoint),
      write_back_buffer_(context.kernel, "room in the write-back buffer", endpoint),
      fence_(context.kernel, "the answers to all accesses before a fence", endpoint),
      completion_timeout_(params.completion_timeout),
      core_params_(params.core) {
  endpoint.add(*this);
  endpoint.system_context().roles.declare<Requester>(endpoint, endpoint.id(), *this);
  if (core_params_) core_params_->find_prefetchers(context.prefetchers);
  Agent* taker = this;
  if (params.cache) {
    cache_ = with_path("cache", [&] {
      return std::make_unique<CacheAgent>(*params.cache, params.process_time, endpoint, context,
                                          CacheKinds{context.victims, context.prefetchers},
                                          static_cast<CacheAgent::Client&>(*this), params.atomics);
    });
    taker = cache_.get();
  }
  if (params.external_cache) {
    external_ = std::make_unique<ExternalCache>(endpoint, static_cast<CacheClient&>(*this));
    taker = external_.get();
  }
  if (params.throttle) {
    throttle_ = std::make_unique<RequestThrottle>(*params.throttle, context.kernel, *taker);
    endpoint.set_throttle(*throttle_);
  }
  for (const Channel answers : {Channel::kS2MNDR, Channel::kS2MDRS, Channel::kH2DRsp, Channel::kH2DData})
    endpoint.bind(answers, *taker);
  if (taker == this) return;
  for (const Channel snoops : {Channel::kS2MBISnp, Channel::kH2DReq, Channel::kD2HReq})
    endpoint.bind(snoops, *taker);
}

void Sequencer::assign(Work work, RequestObserver& observer) {
  if (external_ && !work.stream->from_outside())
    throw InputError({"its cache is outside", work.name, "accesses of a program that has the cache", {}});
  observer_ = &observer;
  past_.begin(!core_params_ && !external_, work.name);
  window_.prepare();
  count_.begin(work);
  std::shared_ptr<const Tiering> tiering = std::move(work.tiering);
  if (core_params_) {
    auto cores = std::make_unique<CoreCluster>(*core_params_, queue_, work, endpoint(),
                                               static_cast<CoreCluster::AccessTaker&>(*this));
    cores_ = cores.get();
    work.stream = std::move(cores);
  }
  source_.begin(std::move(work), cores_ != nullptr);
  if (tiering) {
    expect_moves();
    pages_->tier(std::move(tiering));
  }
  wants_answers_ = this->work().stream->wants_answers();
  asks_again_ = cores_ || source_.reactive();
  if (!cores_ && (source_.reactive() || this->work().stream->per_access() > 1))
    large_ = std::make_unique<LargeAccesses>(endpoint().kernel(), source_.reactive());
  // Data that a home pulls go at once, and requests on their way through `process_time` after them.
  if (!cache_ && !external_ && process_time_ > Time{} && endpoint().system_context().map->has_coherent())
    endpoint().send_as_ready();
}

MovablePages* Sequencer::expect_moves() {
  MovablePages* const pages = has_work() ? workload().movable_pages() : nullptr;
  if (pages && !pages_) {
    pages_ = std::make_unique<PageManager>(endpoint(), *pages, cores_, requests_,
                                           static_cast<PageManager::ManagedProgram&>(*this));
  }
  return pages;
}

void Sequencer::resume() {
  if (cores_) cores_->resume();
  take_made();
}

void Sequencer::take_made() {
  if (!source_.has_next()) fetch();
  may_issue();
}

void Sequencer::cease() {
  if (!has_work() || work().stream->from_outside()) return;
  if (waiting_in_) waiting_in_->leave(*this);
  waiting_in_ = nullptr;
  source_.cease();
}

void Sequencer::start() {
  if (cache_) cache_->start();
  if (throttle_) throttle_->start();
  shared_ = endpoint().system_context().shared.get();
  if (!has_work()) return;
  if (pages_) pages_->start();
  if (!cores_) fetch();
  wake_at(source_.begins(Time{}));
}

Requester::Progress Sequencer::progress() const {
  const bool outside = has_work() && work().stream->from_outside();
  return {.trace_ended = out_of_work() && !source_.enough(count_) && !outside,
          .waits_for_outside = outside && work().stream->open() && !source_.has_next() && outstanding() == 0,
          .open_loop = source_.open_loop(),
          .has_instruction_gaps = source_.has_gaps(),
          .goes_by_answers = source_.reactive() != nullptr,
          .warmup = work().warmup,
          .issued = issued(),
          .issued_before_window = count_.issued_before_window(),
          .expected = source_.expected(count_),
          .left_at_least = source_.left_at_least(count_),
          .write_backs = write_backs(),
          .live_requests = requests_.live(),
          .volatile_flushes = volatile_flushes_};
}

void Sequencer::fetch() {
  source_.fetch(count_, now());
  if (source_.has_next()) {
    if (pages_) [[unlikely]]
      pages_->fetched(source_.next());
    return;
  }
  if (source_.gives_at() && wake_pending_ != *source_.gives_at()) [[unlikely]]
    wake_at(wake_pending_ = *source_.gives_at());
  // What cores do in their caches alone takes time, too.
  if (cores_ && out_of_work() && !count_.counting() && issued() == 0) observer_->measuring_begins(now());
}

// What the next access waits for; null: it can be issued.
WaitList* Sequencer::obstacle() {
  const Access& next = source_.next();
  if (in_flight() == queue_) return &slots_;
  if (cache_ && cache_->victims() >= queue_) return &write_back_buffer_;
  if (!window_.allows(issued(), next.dependence)) return &dependences_;
  if (next.dependence == kAllBefore && !quiet()) {
    if (fence_since_ < Time{}) fence_since_ = now();
    past_.drain();
    return &fence_;
  }
  if (past_.used()) [[unlikely]]
    if (WaitList* const list = past_.waits_in_order(next, in_flight())) return list;
  if (pages_ && pages_->holds_up(next)) [[unlikely]]
    return &pages_->list();
  return nullptr;
}

void Sequencer::issue_what_can_be_issued() {
  if (waiting_in_) {
    waiting_in_->leave(*this);
    waiting_in_ = nullptr;
  }
  while (source_.has_next()) {
    if (pages_) [[unlikely]]
      source_.delay(pages_->busy_until());
    if (const Time earliest = source_.earliest(); earliest > now()) {
      if (wake_pending_ != earliest) wake_at(wake_pending_ = earliest);
      return;
    }
    waiting_in_ = obstacle();
    if (waiting_in_) {
      waiting_in_->join(*this, now());
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
  const Access& next = source_.next();
  if (next.dependence == kAllBefore) [[unlikely]]
    pass_fence();
  Request& request = requests_.take();
  request.id = issued();
  request.address = next.address;
  request.kind = next.kind;
  request.size = next.size;
  if (next.kind == AccessKind::kFlush || external_) [[unlikely]] {
    request.keeps = next.keeps;
    request.brings = next.brings;
  }
  if (next.past) [[unlikely]]
    past_.begin_store(request, work().name);
  if (next.thread != 0) request.set_thread(next.thread);
  const Time now = this->now();
  const NodeId self = endpoint().id();
  request.target = self;
  request.begin(self, source_.came(now));
  request.charge(Segment::kRequesterQueue, now);
  request.charge(Segment::kProcess, now + process_time_);
  if (issued() == work().warmup) observer_->measuring_begins(now);
  window_.flip(issued());
  count_.issue();
  meter_.issued(now);
  if (large_) large_->issued(request.id, next.continues, request.created());
  source_.issued(now);
  request.lines = next.lines();
  if (pages_ && pages_->stops(request, next)) [[unlikely]]
    return;
  access(request);
}

void Sequencer::access(Request& request) {
  request.lines > 1 ? access_lines(request) : access_memory(request);
}

void Sequencer::process(Request& request) {
  request.charge(Segment::kProcess, now() + process_time_);
  access(request);
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
    line.past = request.past;
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
    if (request.kind == AccessKind::kFlush && !external_) [[unlikely]]
      volatile_flushes_ += check_durable(*this, work(), request.id, request.address) ? 0 : 1;
    if (shared_) [[unlikely]]
      shared_->begins(request);
    if (past_.used() && past_.takes(request)) [[unlikely]]
      return;
    to_memory(request);
  } catch (const InputError& error) {
    throw error.with_path(work().name);
  }
}

void Sequencer::check_mapped(const Access& access) const {
  Access checked = access;
  if (external_) checked.kind = AccessKind::kRead;  // what leaves a cache need not be durable
  with_path(work().name, [&] { cxloom::check_mapped(*this, work(), issued(), checked); });
}

void Sequencer::read_through(std::uint64_t most) {
  const std::uint64_t least = work().requests ? std::min(most, work().warmup + *work().requests) : most;
  Access& next = source_.next();
  if (cores_) {
    while (issued() < least && !workload().repeats() && workload().next(next)) {
      if (!next.reaches_memory()) continue;
      if (pages_) pages_->fetched(next);
      check_mapped(next);
      count_.issue();
    }
    return;
  }
  for (; source_.has_next() && issued() < least && !work().stream->repeats(); fetch()) {
    check_mapped(next);
    count_.issue();
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

// An access that was taken from its stream when the page was at its old place.
void Sequencer::page_moved(const PageMove& move) {
  Access& next = source_.next();
  if (source_.has_next()) next.address = move.moved(next.address, next.size);
}

void Sequencer::may_issue() {
  issue_what_can_be_issued();
  end_if_out_of_work();
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
  if (shared_ && (request.lines == 1 || request.is_part() || request.is_combined())) [[unlikely]]
    shared_->ends(request);
  if (request.is_part()) {
    complete_line(request);
    return;
  }
  if (request.is_copy()) [[unlikely]] {
    pages_->copied(request);
    return;
  }
  if (request.is_combined()) [[unlikely]] {
    written_back(request.target, request.failed ? std::uint16_t{0} : request.message.size);
    past_.written(request);
    requests_.give_back(request);
    return;
  }
  window_.flip(request.id);
  count_.complete();
  meter_.completed(request, now);
  observer_->completed(request, now);
  if (pages_) [[unlikely]]
    pages_->completed(request, now);
  if (wants_answers_) work().stream->answered(request.id, request, now);
  if (large_) large_->answered(request.id, now);
  requests_.give_back(request);
  end_if_out_of_work();
}

void Sequencer::end_if_out_of_work() {
  if (!out_of_work() || ended_ || !count_.counting() || !count_.even()) return;
  ended_ = true;
  observer_->work_ends(now());
}

void Sequencer::buffered(Request& store) {
  endpoint().kernel().schedule(store.account.mark(), endpoint().source(), *this, kBuffered,
                               payload_of(store));
}

void Sequencer::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kBuffered) [[unlikely]] {
    complete(object_of<Request>(payload));
    return go_on();
  }
  wake_pending_ = Time{-1};
  if (asks_again_) return take_made();
  issue_what_can_be_issued();
}

void Sequencer::go_on() {
  if (asks_again_) take_made();
  else issue_what_can_be_issued();
  if (past_.used() && !source_.has_next()) past_.drain();
  if (out_of_work() && outstanding() == 0) observer_->rests();
}

// A requester that ran out of work before has no part in how long the window is.
void Sequencer::open_window(Time at) {
  count_.open_window();
  ended_ = out_of_work();
  if (cores_) cores_->open_window(at, issued() == 0);
}

void Sequencer::close_window(Time at) {
  if (cores_) cores_->close_window(at);
}

std::vector<MeasureInfo> Sequencer::measures() {
  std::vector<MeasureInfo> all = joined(RequesterMeter::measures(), RequestThrottle::measures());
  for (auto of_part : {LargeAccesses::measures, AccessSource::measures, PageManager::measures,
                       CoreCluster::measures, CombiningBuffers::measures, CacheAgent::measures})
    all = joined(std::move(all), of_part());
  return all;
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
  source_.resources(sink);
  past_.resources(sink);
  if (core_params_) core_params_->resources(sink);
  if (cache_) cache_->resources(sink);
}

}  // namespace cxloom

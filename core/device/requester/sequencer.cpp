#include "device/requester/sequencer.hpp"

#include <algorithm>
#include <utility>

#include "coherence/common/write_pull.hpp"
#include "component/component_time.hpp"
#include "component/line_versions.hpp"
#include "component/shared_lines.hpp"
#include "device/requester/access_check.hpp"
#include "device/requester/host_replicator.hpp"

namespace cxloom {

Time Sequencer::now() const { return endpoint().now(); }
void Sequencer::wake_at(Time at) { endpoint().kernel().schedule(at, endpoint().source(), *this, kIssue, 0); }

Sequencer::Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context)
    : Agent(endpoint),
      process_time_(params.process_time),
      queue_(params.queue, endpoint),
      meter_(context.kernel),
      source_(params, context),
      past_(params.combining_buffers, params.process_time, endpoint,
            static_cast<PastCaches::PastSender&>(*this)),
      write_back_buffer_(context.kernel, "room in the write-back buffer", endpoint),
      core_params_(params.core),
      traits_(Traits::of(params)) {
  endpoint.add(*this);
  endpoint.system_context().roles.declare<Requester>(endpoint, endpoint.id(), *this);
  endpoint.system_context().roles.declare<ReplicatorOwner>(endpoint, endpoint.id(), *this);
  if (core_params_) core_params_->find_prefetchers(context.prefetchers);
  Agent& sender = path_.connect(params, endpoint, context, *this, *this);
  if (!params.throttle) return;
  throttle_ = std::make_unique<RequestThrottle>(*params.throttle, context.kernel, sender);
  endpoint.set_throttle(*throttle_);
}

Sequencer::~Sequencer() = default;

std::string Sequencer::why_no_replicator() const {
  if (throttle_) return "a throttle";
  return path_.external_cache() ? "a cache outside" : "";
}

RequestTaker& Sequencer::begin_replicating(ReplicaSets& sets, std::uint32_t entries) {
  if (!replicator_) replicator_ = std::make_unique<HostReplicator>(endpoint(), sets);
  replicator_->add_entries(entries);
  return *replicator_;
}

void Sequencer::assign(Work work, RequestObserver& observer) {
  if (path_.external_cache() && !work.stream->from_outside())
    throw InputError({"its cache is outside", work.name, "accesses of a program that has the cache", {}});
  observer_ = &observer;
  past_.begin(!core_params_ && !path_.external_cache(), work.name);
  queue_.prepare();
  count_.begin(work);
  std::shared_ptr<const Tiering> tiering = std::move(work.tiering);
  if (core_params_) {
    auto cores = std::make_unique<CoreCluster>(*core_params_, queue_.size(), work, endpoint(),
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
  if (path_.uncached() && process_time_ > Time{} && endpoint().system_context().map->has_coherent())
    endpoint().send_as_ready();
}

MovablePages* Sequencer::expect_moves() {
  MovablePages* const pages = has_work() ? workload().movable_pages() : nullptr;
  if (pages && !pages_) {
    pages_ = std::make_unique<PageManager>(endpoint(), *pages, cores_, queue_,
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
  wait_no_more();
  source_.cease();
}

void Sequencer::crash(bool last) {
  ended_ |= !last;
  cease();
  count_.end_warmup();
  if (has_work() && !count_.counting()) observer_->measuring_begins(now());
  end_if_out_of_work();
}

void Sequencer::start() {
  path_.start();
  if (throttle_) throttle_->start();
  shared_ = endpoint().system_context().shared.get();
  if (!has_work()) return;
  if (pages_) pages_->start();
  if (!cores_) fetch();
  wake_at(source_.begins(Time{}));
}

Requester::Progress Sequencer::progress() const {
  Progress progress = source_.progress(count_);
  progress.waits_for_outside &= outstanding() == 0;
  progress.write_backs = path_.write_backs();
  progress.live_requests = queue_.live();
  progress.volatile_flushes = volatile_flushes_;
  return progress;
}

std::uint64_t Sequencer::outstanding() const {
  return in_flight() + path_.outstanding() + past_.occupied() + (pages_ ? pages_->outstanding() : 0);
}

// With caches, cores or pages that move, what is answered next need not be under way. While an answer is told
// its place is free, and who waits for it has not been called yet.
Time Sequencer::earliest_answer(RemainingTime& left) {
  if (!path_.uncached() || cores_ || pages_ || past_.used()) return Time{};
  const Time earliest = queue_.earliest_answer(left);
  const bool may_issue =
      source_.has_next() && (waiting_in_ != &queue_.slots() || in_flight() < queue_.size());
  return may_issue ? std::min(earliest, now() + process_time_) : earliest;
}

[[gnu::hot]] void Sequencer::fetch() {
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
[[gnu::always_inline]] inline WaitList* Sequencer::obstacle() {
  const Access& next = source_.next();
  if (in_flight() >= queue_.size()) return &queue_.slots();
  if (path_.cache() && path_.cache()->victims() >= queue_.size()) return &write_back_buffer_;
  if (!queue_.allows(issued(), next.dependence)) return &queue_.dependences();
  if (next.dependence == kAllBefore && !quiet()) {
    WaitList& fence = queue_.hold(now());
    past_.drain();
    return &fence;
  }
  if (past_.used()) [[unlikely]]
    if (WaitList* const list = past_.waits_in_order(next, in_flight())) return list;
  if (pages_ && pages_->holds_up(next)) [[unlikely]]
    return &pages_->list();
  return nullptr;
}

[[gnu::always_inline]] inline void Sequencer::issue() {
  const Access& next = source_.next();
  const Time now = this->now();
  if (next.dependence == kAllBefore) [[unlikely]]
    meter_.passed_fence(queue_.pass_fence(now));
  Request& request = queue_.take(source_.came(now));
  request.id = issued();
  request.address = next.address;
  request.kind = next.kind;
  request.size = next.size;
  if (next.kind == AccessKind::kFlush || path_.external_cache()) [[unlikely]] {
    request.keeps = next.keeps;
    request.brings = next.brings;
  }
  if (next.past) [[unlikely]]
    past_.begin_store(request, work().name);
  if (next.thread != 0) request.set_thread(next.thread);
  request.charge(Segment::kRequesterQueue, now);
  request.charge(Segment::kProcess, now + process_time_);
  if (issued() == work().warmup) observer_->measuring_begins(now);
  queue_.flip(issued());
  count_.issue();
  meter_.issued(now);
  if (large_) large_->issued(request.id, next.continues, request.created());
  source_.issued(now);
  request.lines = next.lines();
  if (pages_ && pages_->stops(request, next)) [[unlikely]]
    return;
  access(request);
}

// Most often it waits for a place, makes one request when one is free, and waits there again.
[[gnu::hot]] void Sequencer::issue_what_can_be_issued() {
  while (source_.has_next()) {
    if (pages_) [[unlikely]]
      source_.delay(pages_->busy_until());
    if (const Time earliest = source_.earliest(); earliest > now()) {
      if (wake_pending_ != earliest) wake_at(wake_pending_ = earliest);
      break;
    }
    if (WaitList* const list = obstacle()) {
      if (list == waiting_in_) return list->join_again(*this, now());
      wait_no_more();
      waiting_in_ = list;
      list->join(*this, now());
      return;
    }
    issue();
    fetch();
    end_if_out_of_work();
  }
  wait_no_more();
}

void Sequencer::access(Request& request) {
  request.lines > 1 ? access_lines(request) : access_memory(request);
}

void Sequencer::process(Request& request) {
  request.charge(Segment::kProcess, now() + process_time_);
  access(request);
}

// The last line may end the access.
void Sequencer::access_lines(Request& request) {
  request.pending = request.lines;
  const std::uint64_t size = request.size;
  for (std::uint64_t done = 0; done < size;) {
    Request& line = queue_.take_line(request, done);
    done += line.size;
    access_memory(line);
  }
}

[[gnu::hot]] void Sequencer::access_memory(Request& request) {
  try {
    if (request.kind == AccessKind::kFlush && !path_.external_cache() && !request.is_copy()) [[unlikely]]
      volatile_flushes_ += check_durable(*this, work(), request.id, request.address, request.brings) ? 0 : 1;
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
  if (path_.external_cache()) checked.kind = AccessKind::kRead;  // what leaves a cache need not be durable
  with_path(work().name, [&] {
    if (access.past) past_.check_store(issued());
    cxloom::check_mapped(*this, work(), issued(), checked);
  });
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

[[gnu::hot]] void Sequencer::receive(Message& message) {
  endpoint().release(message, now());
  if (throttle_) [[unlikely]]
    throttle_->observe(message);
  if (message.persistent && endpoint().system_context().versions) [[unlikely]]
    endpoint().system_context().versions->returns(endpoint().kernel(), message);
  if (message.opcode == Opcode::kWritePull || message.opcode == Opcode::kGoWritePull)
    send_pulled_data(*this, message, now());
  if (message.channel == Channel::kD2HData) return;  // the answer to the write comes when they are there
  Request& request = queue_.at(message.tag);
  request.failed = message.failed;
  if (message.failed || request.target == endpoint().id()) {
    request.target = message.source;
    if (message.failed) message.size = 0;  // poison is of no use
  }
  complete(request);
  go_on_now();
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

// Bytes count as each line is answered.
void Sequencer::complete_line(Request& line) {
  meter_.moved(line.moved());
  observer_->line_completed(line, now());
  if (RequestQueue::ends_access(line)) complete(*line.parent);
  queue_.give_back(line);
}

[[gnu::hot]] void Sequencer::complete(Request& request) {
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
    queue_.give_back(request);
    if (pages_) pages_->look_for_ends();
    return;
  }
  if (request.id < lost_before_) [[unlikely]]
    request.failed = true;
  queue_.flip(request.id);
  count_.complete();
  meter_.completed(request, now);
  observer_->completed(request, now);
  if (pages_) [[unlikely]]
    pages_->completed(request, now);
  if (wants_answers_) work().stream->answered(request.id, request, now);
  if (large_) large_->answered(request.id, now);
  queue_.give_back(request);
  end_if_out_of_work();
}

[[gnu::hot]] void Sequencer::end_if_out_of_work() {
  if (!out_of_work() || ended_ || !count_.counting() || !count_.even()) return;
  ended_ = true;
  observer_->work_ends(now());
}

void Sequencer::written_back(NodeId target, std::uint16_t bytes) {
  meter_.moved(bytes);
  observer_->written_back(endpoint().id(), target, bytes);
}

void Sequencer::prefetched(NodeId target, std::uint16_t bytes) {
  meter_.moved(bytes);
  observer_->prefetched(endpoint().id(), target, bytes);
}

void Sequencer::buffered(Request& store) {
  endpoint().kernel().schedule(store.account.mark(), endpoint().source(), *this, kBuffered,
                               payload_of(store));
}

void Sequencer::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kBuffered) [[unlikely]] {
    complete(object_of<Request>(payload));
    return go_on_now();
  }
  wake_pending_ = Time{-1};
  if (asks_again_) return take_made();
  issue_what_can_be_issued();
}

[[gnu::hot]] void Sequencer::go_on_now() {
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

std::string Sequencer::activity() const {
  if (outstanding() == 0) return {};
  const std::uint64_t prefetches = path_.prefetches();
  const std::string ahead = prefetches > 0 ? " and " + counted(prefetches, "prefetched line") : "";
  return counted(in_flight(), "request") + " and " + counted(path_.write_backs(), "write-back") + ahead +
         " without an answer, " + std::to_string(count_.completed()) + " answered";
}

std::vector<MeasureInfo> Sequencer::measures() {
  std::vector<MeasureInfo> all = joined(RequesterMeter::measures(), RequestThrottle::measures());
  for (auto of_part : {LargeAccesses::measures, AccessSource::measures, PageManager::measures,
                       CoreCluster::measures, CombiningBuffers::measures, RequestPath::measures})
    all = joined(std::move(all), of_part());
  return all;
}

void Sequencer::report_requests(MeasureSink& sink) const {
  meter_.report(sink);
  if (large_) large_->report(sink);
  if (throttle_) throttle_->report(sink);
  source_.report(sink);
  if (pages_) pages_->report(sink);
  if (cores_) cores_->report(sink);
  past_.report(sink);
  path_.report(sink);
}

void Sequencer::resources(ResourceSink& sink) const {
  queue_.resources(sink);
  source_.resources(sink);
  past_.resources(sink);
  if (core_params_) core_params_->resources(sink);
  path_.resources(sink);
}

}  // namespace cxloom

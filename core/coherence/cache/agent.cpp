#include "coherence/cache/agent.hpp"

#include <algorithm>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "component/request_throttle.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

CacheAgent::CacheAgent(const CacheAgentParams& params, Time process_time, Endpoint& endpoint,
                       const ComponentContext& context, const CacheKinds& kinds, Client& client,
                       AtomicsAt atomics_at)
    : Agent(endpoint),
      client_(client),
      write_allocate_(params.write_allocate),
      observers_(endpoint),
      counts_(context.kernel),
      level_counts_(context.kernel.arena().make_array<Windowed<CacheLevelCounts>>(
          params.levels.size() + 1, [&](std::size_t) { return Windowed<CacheLevelCounts>(context.kernel); })),
      protocols_(*this, *this, params.read_state),
      lines_(params, process_time, kinds, context.seed, *this, protocols_, counts_),
      snoops_(params.clear_time, *this, kSnoop, lines_, client, counts_),
      atomics_(params.atomic_time, atomics_at, *this, kOperated, lines_, *this, client, counts_),
      prefetch_(PrefetchUnit::make(params.prefetch, kinds, endpoint, *this)),
      mshrs_(params.mshrs, endpoint) {
  if (prefetch_) lines_.tell(*prefetch_);
  endpoint.system_context().caches.push_back(&endpoint);
  // What has waited, for a register or its line, goes at once; what came later is still in the levels.
  endpoint.send_as_ready();
}

void CacheAgent::start() {
  lines_.keep_coherent(endpoint().system_context().map->has_coherent());
  if (!endpoint().system_context().failures) return;
  in_vain_ = std::make_unique<GrantsInVain>();
  snoops_.bear_losses(*in_vain_);
}

Time CacheAgent::now() const { return endpoint().now(); }

// ---- Requests

[[gnu::hot]] void CacheAgent::access(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  const CacheLevels& levels = lines_.levels();
  const CacheLevels::LookupResult found = levels.find(line);
  if (request.past && request.kind != AccessKind::kFlush) [[unlikely]] {
    attempt(request, found);
    return;
  }
  const Time begins = std::max(request.account.mark(), lines_.busy_until());
  request.charge(Segment::kCache, begins + levels.access_time(found.level));
  if (request.kind == AccessKind::kFlush) [[unlikely]] {
    attempt(request, found);
    return;
  }
  // Lines of pages that move are none of the program's accesses, which the shares are of.
  const bool is_copy = request.is_copy();
  counts_->lookups += is_copy ? 0 : 1;
  if (observers_.follow_versions()) [[unlikely]] {
    if (request.kind == AccessKind::kRead && found.state != LineState::kInvalid && !lines_.under_way(line))
      observers_.found(line);
  }
  const bool prefetches = prefetch_ && !goes_past(request, found.state);
  const bool held = found.state != LineState::kInvalid || (prefetches && is_missing(line));
  if (attempt(request, found) && !is_copy) ++level_counts_[found.level]->hits;
  if (prefetches) prefetch_->accessed(request, held, begins + levels.access_time(levels.count()));
}

[[gnu::hot]] bool CacheAgent::serves(const Request& request, LineState state) const {
  if (request.wants_memory() && request.kind != AccessKind::kFlush) [[unlikely]]
    return false;
  if (request.kind == AccessKind::kRead) return state != LineState::kInvalid;
  if (request.kind == AccessKind::kAtomic) return atomics_.served_by(state);
  if (request.kind == AccessKind::kFlush) return lines_.flushes_alone(request, state);
  return state == LineState::kClean || state == LineState::kDirty;
}

// The line may have gone to a level behind since it came.
[[gnu::hot]] void CacheAgent::perform(Request& request, const CacheLevels::LookupResult& found) {
  const LineAddress line = LineAddress::of(request.address);
  if (request.kind == AccessKind::kFlush) return lines_.flush(line, request);
  if (found.level > 0) lines_.use(line, found.level);
  if (request.kind != AccessKind::kRead)
    found.level > 0 ? lines_.mark_dirty(line) : lines_.mark_dirty(found.slot);
  observers_.performed(request, line);
}

void CacheAgent::retry(Request& request) {
  if (request.account.mark() < now()) request.charge(Segment::kMshr, now());
  const LineAddress line = LineAddress::of(request.address);
  const CacheLevels::LookupResult found = lines_.find(line);
  if (prefetch_ && !goes_past(request, found.state)) prefetch_->used(line);  // asked for meanwhile
  attempt(request, found);
}

// Whether it is a hit; if not it waits for what it lacks.
[[gnu::hot]] bool CacheAgent::attempt(Request& request, const CacheLevels::LookupResult& found) {
  const LineAddress line = LineAddress::of(request.address);
  if (Transaction* const under_way = lines_.under_way(line)) {  // wait for its end
    under_way->waiting.push(request);
    return under_way->doing == Doing::kOperate && serves(request, found.state);
  }
  if (serves(request, found.state)) {
    if (found.level == 0 && request.kind != AccessKind::kFlush) lines_.touch(found.slot);
    perform(request, found);
    if (request.kind == AccessKind::kAtomic) {
      atomics_.operate(lines_.open(line, place_of(*this, request.id, line.address())), request);
    } else {
      answer_later(request);
    }
    return true;
  }
  if (request.kind == AccessKind::kFlush) {
    Transaction& transaction = lines_.open(line, place_of(*this, request.id, line.address()));
    transaction.waiting.push(request);
    launch(transaction, request, found.state);
    return true;
  }
  if (mshrs_.full()) {
    mshrs_.wait(request);
    return false;
  }
  lines_.levels().foresee_fill(line);
  Transaction& transaction = lines_.open(line, place_of(*this, request.id, line.address()));
  transaction.miss = true;
  mshrs_.take();
  transaction.waiting.push(request);
  launch(transaction, request, found.state);
  return false;
}

// Asks for what the request lacks. What it waited for so far is charged.
[[gnu::hot]] void CacheAgent::launch(Transaction& transaction, Request& request, LineState held) {
  if (request.account.mark() < now()) request.charge(Segment::kMshr, now());
  const bool write = request.kind != AccessKind::kRead;
  transaction.data_in = false;
  transaction.granted = LineState::kInvalid;
  transaction.flaw = Flaw::kNone;
  if (atomics_.at_home(request)) return atomics_.ask_home(transaction, request, held);
  if (request.kind == AccessKind::kFlush) {
    if (lines_.leaves_clean(transaction, held, request)) return answer_later(request);
    transaction.doing = Doing::kFlush;
    lines_.clean(transaction.line, request.keeps);
    request.brings = false;  // they are on their way
  } else if (request.wants_memory()) [[unlikely]] {
    if (request.past && lines_.leave_first(transaction, held, request.account.mark())) return;
    transaction.doing = write ? Doing::kWrite : Doing::kCurrent;
  } else if (request.kind == AccessKind::kWrite && held == LineState::kInvalid && !write_allocate_) {
    transaction.doing = Doing::kWrite;
  } else if (write && held == LineState::kShared) {
    transaction.doing = Doing::kUpgrade;
    ++counts_->upgrades;
  } else {
    transaction.doing = write && transaction.coherent ? Doing::kOwn : Doing::kRead;
  }
  transaction.protocol->ask(transaction, request);
}

void CacheAgent::answer_later(Request& request) {
  endpoint().kernel().schedule(request.account.mark(), endpoint().source(), *this, kAnswer,
                               payload_of(request));
}

// Its lookup may still be going on.
[[gnu::hot]] void CacheAgent::answer(Request& request) {
  if (request.account.mark() > now()) {
    answer_later(request);
  } else {
    request.charge(Segment::kMshr, now());
    client_.answered(request);
  }
}

// ---- Prefetches

// It wants no copy, and no line behind its own. Lines of a page that moves say nothing of what the program
// wants next.
bool CacheAgent::goes_past(const Request& request, LineState state) const {
  if (request.kind == AccessKind::kFlush || request.is_copy()) return true;
  if (request.through && request.kind == AccessKind::kWrite) return true;
  if (atomics_.at_home(request)) return !serves(request, state);
  return request.kind == AccessKind::kWrite && !write_allocate_ && state == LineState::kInvalid &&
         !lines_.under_way(LineAddress::of(request.address));
}

/// It is on its way.
bool CacheAgent::is_missing(LineAddress line) const {
  const Transaction* const under_way = lines_.under_way(line);
  return under_way && (under_way->miss || under_way->prefetch);
}

bool CacheAgent::concerns(LineAddress line) const {
  return lines_.under_way(line) || lines_.find(line).state != LineState::kInvalid;
}

// A read of the line without a miss register: accesses to it wait for it, as for any that is under way.
void CacheAgent::fetch(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  Transaction& transaction = lines_.open(line, place_of(*this, request.id, line.address()));
  transaction.prefetch = &request;
  transaction.waiting.push(request);
  launch(transaction, request, LineState::kInvalid);
}

// It is off the count before the client hears of it: then the run may be at its end.
void CacheAgent::end_prefetch(Request& request) {
  const NodeId target = request.target;
  const std::uint16_t bytes = request.failed ? 0 : request.message.size;
  prefetch_->came(request);
  client_.prefetched(target, bytes);
}

void CacheAgent::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kAnswer: client_.answered(object_of<Request>(payload)); break;
    case kSnoop: snoops_.look_up(object_of<CacheSnoop>(payload)); break;
    default: atomics_.end(object_of<Transaction>(payload)); break;
  }
  client_.go_on();
}

[[gnu::hot]] void CacheAgent::receive(Message& message) {
  endpoint().release(message, now());
  if (RequestThrottle* const throttle = endpoint().throttle()) [[unlikely]]
    throttle->observe(message);
  observers_.received(message);
  switch (message.channel) {
    case Channel::kS2MBISnp: protocols_.cxl_mem.receive(message); break;
    case Channel::kH2DReq:
    case Channel::kH2DRsp: protocols_.cxl_cache.receive(message); break;  // a WritePull is its sender's
    case Channel::kD2HReq: protocols_.cxl_bias.receive(message); break;
    default: lines_.transaction(message.tag).protocol->receive(message); break;
  }
  client_.go_on();
}

// ---- Answers

[[gnu::hot]] void CacheAgent::data_came(Message& message) {
  Transaction& transaction = lines_.transaction(message.tag);
  if (transaction.doing == Doing::kAtomic || transaction.doing == Doing::kCurrent) return completed(message);
  transaction.data_in = true;
  observers_.cached(message);
  observers_.filled(message);
  if (!transaction.coherent) transaction.granted = LineState::kClean;
  // A device on the way may have answered; but of lines with a home elsewhere the memory counts.
  if (message.failed || !transaction.coherent || transaction.home == transaction.target)
    transaction.target = message.source;
  if (message.failed) [[unlikely]] {
    transaction.worsen(message.poisoned ? Flaw::kPoisoned : Flaw::kError);
    if (!transaction.completion_comes()) finish_read(transaction);
  } else if (transaction.granted != LineState::kInvalid) {
    finish_read(transaction);
  }
}

[[gnu::hot]] void CacheAgent::granted(Message& message, LineState state) {
  Transaction& transaction = lines_.transaction(message.tag);
  transaction.granted = state;
  if (in_vain_ && !usable(transaction, message)) [[unlikely]]
    return;
  if (transaction.doing == Doing::kUpgrade) {
    if (lines_.find(transaction.line).state ==
        LineState::kInvalid) {  // the shared copy has left meanwhile: ownership is granted, and the data are
                                // missing
      launch(transaction, transaction.waiting.front(), LineState::kInvalid);
      return;
    }
    lines_.set_state(transaction.line, LineState::kClean);
    serve_waiting(transaction, Flaw::kNone);
    conclude(transaction);
    return;
  }
  if (!transaction.data_in) return;
  transaction.waiting.front().account = transaction.completion_account;  // what the read waited for last
  finish_read(transaction);
}

[[gnu::hot]] void CacheAgent::finish_read(Transaction& transaction) {
  if (in_vain_ && transaction.coherent && in_vain_->has(transaction)) [[unlikely]]
    transaction.worsen(Flaw::kInVain);
  const Flaw flaw = transaction.flaw;
  if (flaw == Flaw::kNone || (flaw == Flaw::kPoisoned && transaction.overwrites())) {
    const Slot slot = lines_.fill(transaction.line, transaction.granted);
    if (prefetch_ && !transaction.prefetch) prefetch_->filled(transaction.line);
    serve_waiting(transaction, Flaw::kNone, {0, transaction.granted, slot});
  } else if (flaw == Flaw::kInVain) {
    if (transaction.snoop && !transaction.asked) snoops_.answer_waiting(transaction);
    Request& first = transaction.waiting.front();
    first.message.failed = first.message.poisoned = false;
    return launch(transaction, first, lines_.find(transaction.line).state);
  } else {
    serve_waiting(transaction, flaw);
  }
  conclude(transaction);
}

// ---- Answers in a system parts of which fail

// Whether a grant, or the loss of one, is one to go on with. That of a read is: its end says if it has a
// flaw.
bool CacheAgent::usable(Transaction& transaction, const Message& message) {
  transaction.grant = message.pushes;
  if (message.failed) transaction.worsen(Flaw::kError);
  if (transaction.doing != Doing::kUpgrade) return true;
  if (message.failed) {
    end_upgrade(transaction, message);
  } else if (in_vain_->has(transaction)) {
    launch(transaction, transaction.waiting.front(), lines_.find(transaction.line).state);
  } else {
    return true;
  }
  return false;
}

// It was lost; its shared copy may stay.
void CacheAgent::end_upgrade(Transaction& transaction, const Message& message) {
  transaction.target = message.source;
  serve_waiting(transaction, Flaw::kError);
  conclude(transaction);
}

// Serves those that wait, in order, up to the first that needs more than what was granted. Poison is no
// matter to who overwrites it. `held`: where the line is.
[[gnu::hot]] void CacheAgent::serve_waiting(Transaction& transaction, Flaw flaw,
                                            const CacheLevels::LookupResult& held) {
  const NodeId target = transaction.target;
  const std::uint16_t hops = transaction.waiting.front().message.hops;
  const bool failed = flaw != Flaw::kNone;
  for (bool first = true; !transaction.waiting.empty(); first = false) {
    const CacheLevels::LookupResult found = first ? held : lines_.find(transaction.line);
    Request& request = transaction.waiting.front();
    if (!failed) {
      if (!serves(request, found.state)) return;
      if (&request != transaction.prefetch) perform(request, found);
    } else {
      if (flaw == Flaw::kPoisoned && request.writes_whole_line()) return;
      if (flaw == Flaw::kPoisoned) request.message.poisoned = true;
      request.message.size = 0;
    }
    transaction.waiting.pop();
    request.target = target;
    request.failed = failed || (request.kind == AccessKind::kFlush && request.failed);
    request.message.hops = hops;
    if (&request == transaction.prefetch) {
      transaction.prefetch = nullptr;
      end_prefetch(request);
      continue;
    }
    if (request.kind == AccessKind::kAtomic && !failed) {
      atomics_.operate(transaction, request);
      return;
    }
    answer(request);
  }
}

// The end of what was under way: now a snoop that waited is answered, and those go on that wait for more. An
// atomic operation keeps the line to its own end.
[[gnu::hot]] void CacheAgent::conclude(Transaction& transaction) {
  if (transaction.doing == Doing::kOperate) return;
  transaction.doing = Doing::kNothing;
  if (transaction.asked) return;
  if (transaction.snoop) {
    snoops_.answer_waiting(transaction);
    if (transaction.doing != Doing::kNothing) return;
  }
  if (transaction.miss && !transaction.waiting.empty()) {
    serve_waiting(transaction, Flaw::kNone);
    if (transaction.doing != Doing::kNothing) return;
  }
  if (transaction.waiting.empty()) {
    close(transaction);
    return;
  }
  if (!transaction.miss) {  // a line that was on its way out, and is wanted again
    IntrusiveQueue<Request> waiting = transaction.waiting;
    close(transaction);
    while (!waiting.empty()) retry(waiting.pop());
    return;
  }
  launch(transaction, transaction.waiting.front(), lines_.find(transaction.line).state);
}

[[gnu::hot]] void CacheAgent::close(Transaction& transaction) {
  const bool miss = transaction.miss;
  lines_.close(transaction);
  if (!miss) return;
  mshrs_.give_back();
  while (Request* const request = mshrs_.admit()) retry(*request);
}

[[gnu::hot]] void CacheAgent::completed(Message& message) {
  Transaction& transaction = lines_.transaction(message.tag);
  if (transaction.doing == Doing::kWrite || transaction.doing == Doing::kAtomic ||
      transaction.doing == Doing::kFlush || transaction.doing == Doing::kCurrent) {
    Request& request = transaction.waiting.pop();
    const bool memory = !message.failed && transaction.home != transaction.target;
    request.target = memory ? transaction.target : message.source;
    request.failed = message.failed;
    if (message.failed) request.message.size = 0;
    if (transaction.doing == Doing::kFlush) {
      if (request.keeps) observers_.cached(message);
      lines_.flushed(transaction, request);
    }
    if (request.through) [[unlikely]]
      observers_.filled(message);
    answer(request);
  } else if (transaction.doing == Doing::kUpgrade) {
    return end_upgrade(transaction, message);
  } else {
    lines_.eviction_completed(transaction, message.failed);
    if (transaction.doing == Doing::kWriteBack) {
      ++(message.size > 0 ? counts_->write_backs : counts_->dirty_lines_lost);
      if (message.failed && transaction.protocol->forwards_data()) [[unlikely]]
        endpoint().system_context().failures->gives_up(transaction.line, endpoint().id());
      const bool memory = transaction.home != transaction.target;
      client_.written_back(memory ? transaction.target : message.source, message.size);
    }
  }
  conclude(transaction);
}

// ---- For people

std::vector<MeasureInfo> CacheAgent::measures() {
  return joined(cache_measures(), PrefetchCounts::measures());
}

void CacheAgent::report(MeasureSink& sink) const {
  report_cache(counts_.window(), level_counts_, lines_.coherent(), sink);
  if (prefetch_) prefetch_->counts().window().report(sink);
}

std::string CacheAgent::line_state(LineAddress line) const {
  const Transaction* const transaction = lines_.under_way(line);
  const std::string held{name_of(lines_.find(line).state)};
  return transaction ? held + transaction->described() : held;
}

}  // namespace cxloom

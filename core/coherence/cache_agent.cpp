#include "coherence/cache_agent.hpp"

#include <algorithm>
#include <utility>

#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/handling.hpp"
#include "component/memory_access.hpp"
#include "component/request_throttle.hpp"
#include "kernel/payload.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

namespace {

/// What a snoop leaves of a copy. One that was modified is clean if the snoop takes the data to memory.
LineState left_of(LineState held, const CacheSnoop& snoop) {
  if (held == LineState::kInvalid || snoop.purpose == SnoopFor::kInvalidate) return LineState::kInvalid;
  if (snoop.purpose == SnoopFor::kShare) return LineState::kShared;
  return held == LineState::kDirty && !snoop.protocol->forwards_data() ? LineState::kClean : held;
}

/// Null: none.
std::unique_ptr<Prefetcher> make_prefetcher(const CacheAgentParams& params, const CacheKinds& kinds) {
  return below("prefetch", [&] {
    PrefetcherContext context;
    return kinds.prefetchers.make(params.prefetch, context);
  });
}

/// The more of the two that a cache holds.
LineState more_of(LineState a, LineState b) {
  if (a == LineState::kInvalid) return b;
  return a == LineState::kShared && b != LineState::kInvalid ? b : a;
}

}  // namespace

CacheAgent::CacheAgent(const CacheAgentParams& params, Time process_time, Endpoint& endpoint,
                       const ComponentContext& context, const CacheKinds& kinds, Client& client,
                       AtomicsAt atomics_at)
    : Agent(endpoint),
      client_(client),
      fill_time_(params.fill_time),
      clear_time_(params.clear_time),
      atomic_time_(params.atomic_time),
      atomics_at_(atomics_at),
      mshrs_(params.mshrs),
      write_allocate_(params.write_allocate),
      notifies_(params.clean_evictions == CleanEvictions::kNotified),
      levels_(params, kinds.victims, context.seed, endpoint.name()),
      cxl_mem_(*this, *this, params.read_state),
      cxl_bias_(*this, *this, params.read_state),
      cxl_cache_(*this, *this, params.read_state),
      registers_(context.kernel, "a miss register", endpoint),
      counts_(levels_.count()) {
  pipeline_ = process_time + levels_.access_time(levels_.count());
  if (auto prefetcher = make_prefetcher(params, kinds))
    prefetch_ = std::make_unique<PrefetchUnit>(std::move(prefetcher), endpoint,
                                               static_cast<PrefetchUnit::Cache&>(*this));
  ++endpoint.fabric().caches;
}

void CacheAgent::start() { coherent_ = endpoint().fabric().map.has_coherent(); }

Time CacheAgent::now() const { return endpoint().now(); }

Time CacheAgent::occupy(Time from, Time length) {
  if (length > Time{}) busy_until_ = std::max(busy_until_, from) + length;
  return std::max(busy_until_, from);
}

// ---- Requests

void CacheAgent::access(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  const CacheLevels::Place place = levels_.find(line);
  const Time begins = std::max(request.account.mark, busy_until_);
  request.charge(Segment::kCache, begins + levels_.access_time(place.level));
  if (window_open_) ++counts_.lookups;
  const bool prefetches = prefetch_ && !goes_past(request, place.state);
  const bool held = place.state != LineState::kInvalid || (prefetches && is_missing(line));
  if (attempt(request, place) && window_open_) ++counts_.hits[place.level];
  if (prefetches) prefetch_->accessed(request, held, begins + levels_.access_time(levels_.count()));
}

bool CacheAgent::serves(const Request& request, LineState state) const {
  if (request.kind == AccessKind::kRead) return state != LineState::kInvalid;
  if (request.kind == AccessKind::kAtomic && atomics_at_ == AtomicsAt::kHome) return false;
  return state == LineState::kClean || state == LineState::kDirty;
}

// The line may have gone to a level behind since it came.
void CacheAgent::perform(Request& request, std::uint32_t level) {
  const LineAddress line = LineAddress::of(request.address);
  if (level > 0) {
    levels_.use(line, level, gone_);
    evict_gone();
  }
  if (request.kind != AccessKind::kRead) levels_.mark_dirty(line);
  if (ProtocolObserver* const observer = endpoint().fabric().observer) [[unlikely]]
    observer->performed(endpoint().id(), line, request.kind, now());
}

void CacheAgent::retry(Request& request) {
  if (request.account.mark < now()) request.charge(Segment::kMshr, now());
  const LineAddress line = LineAddress::of(request.address);
  const CacheLevels::Place place = levels_.find(line);
  if (prefetch_ && !goes_past(request, place.state)) prefetch_->used(line);  // asked for meanwhile
  attempt(request, place);
}

// Whether it is a hit; if not it waits for what it lacks.
bool CacheAgent::attempt(Request& request, CacheLevels::Place place) {
  const LineAddress line = LineAddress::of(request.address);
  if (Transaction* const under_way = lines_.find(line)) {  // wait for its end
    under_way->waiting.push(request);
    return under_way->doing == Doing::kOperate && serves(request, place.state);
  }
  if (serves(request, place.state)) {
    if (place.level == 0) levels_.use(line, 0, gone_);
    perform(request, place.level);
    if (request.kind == AccessKind::kAtomic) {
      operate(open(line, place_of(*this, request.id, line.address())), request);
    } else {
      answer_later(request);
    }
    return true;
  }
  if (mshrs_ && misses_ == *mshrs_) {
    if (outside_.empty()) registers_.join(*this, now());
    outside_.push(request);
    return false;
  }
  Transaction& transaction = open(line, place_of(*this, request.id, line.address()));
  transaction.miss = true;
  ++misses_;
  transaction.waiting.push(request);
  launch(transaction, request, place.state);
  return false;
}

CacheAgent::Transaction& CacheAgent::open(LineAddress line, const AddressMap::Place& place) {
  Transaction& transaction = transactions_.take();
  transaction.line = line;
  transaction.target = place.target;
  transaction.home = place.home;
  transaction.protocol = &protocol_of(place);
  transaction.coherent = place.coherent();
  transaction.listed = true;
  lines_.add(line, transaction);
  return transaction;
}

HomeProtocol& CacheAgent::protocol_of(const AddressMap::Place& place) {
  if (place.coherence == Coherence::kHdmH) return cxl_cache_;
  if (place.coherence == Coherence::kHdmD && place.home != endpoint().id()) return cxl_bias_;
  return cxl_mem_;
}

// Asks for what the request lacks. What it waited for so far is charged.
void CacheAgent::launch(Transaction& transaction, Request& request, LineState held) {
  if (request.account.mark < now()) request.charge(Segment::kMshr, now());
  const bool write = request.kind != AccessKind::kRead;
  transaction.data_in = false;
  transaction.granted = LineState::kInvalid;
  if (operates_at_home(request)) {
    ask_home(transaction, request, held);
    return;
  }
  if (request.kind == AccessKind::kWrite && held == LineState::kInvalid && !write_allocate_) {
    transaction.doing = Doing::kWrite;
  } else if (write && held == LineState::kShared) {
    transaction.doing = Doing::kUpgrade;
    if (window_open_) ++counts_.upgrades;
  } else {
    transaction.doing = write && transaction.coherent ? Doing::kOwn : Doing::kRead;
  }
  transaction.protocol->ask(transaction, request);
}

void CacheAgent::answer_later(Request& request) {
  endpoint().kernel().schedule(request.account.mark, endpoint().source(), *this, kAnswer,
                               payload_of(request));
}

// Its lookup may still be going on.
void CacheAgent::answer(Request& request) {
  if (request.account.mark > now()) {
    answer_later(request);
  } else {
    request.charge(Segment::kMshr, now());
    client_.answered(request);
  }
}

// ---- Prefetches

// It wants no copy, and no line behind its own.
bool CacheAgent::goes_past(const Request& request, LineState state) const {
  if (operates_at_home(request)) return !serves(request, state);
  return request.kind == AccessKind::kWrite && !write_allocate_ && state == LineState::kInvalid &&
         !lines_.find(LineAddress::of(request.address));
}

/// It is on its way.
bool CacheAgent::is_missing(LineAddress line) const {
  const Transaction* const under_way = lines_.find(line);
  return under_way && (under_way->miss || under_way->prefetch);
}

bool CacheAgent::concerns(LineAddress line) const {
  return lines_.find(line) || levels_.find(line).state != LineState::kInvalid;
}

// A read of the line without a miss register: accesses to it wait for it, as for any that is under way.
void CacheAgent::fetch(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  Transaction& transaction = open(line, place_of(*this, request.id, line.address()));
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
    case kSnoop: look_up(object_of<Snoop>(payload)); break;
    default: operated(object_of<Transaction>(payload)); break;
  }
  client_.go_on();
}

void CacheAgent::receive(Message& message) {
  endpoint().release(message, now());
  if (RequestThrottle* const throttle = endpoint().throttle()) [[unlikely]]
    throttle->observe(message);
  switch (message.channel) {
    case Channel::kS2MBISnp: cxl_mem_.receive(message); break;
    case Channel::kH2DReq:
    case Channel::kH2DRsp: cxl_cache_.receive(message); break;  // a WritePull is its sender's
    case Channel::kD2HReq: cxl_bias_.receive(message); break;
    default: transactions_.at(message.tag).protocol->receive(message); break;
  }
  client_.go_on();
}

// ---- Answers

void CacheAgent::data_came(Message& message) {
  Transaction& transaction = transactions_.at(message.tag);
  if (transaction.doing == Doing::kAtomic) return completed(message);
  transaction.data_in = true;
  if (!transaction.coherent) transaction.granted = LineState::kClean;
  // A device on the way may have answered; but of lines with a home elsewhere the memory counts.
  if (message.failed || transaction.home == transaction.target) transaction.target = message.source;
  if (message.failed || transaction.granted != LineState::kInvalid) finish_read(transaction, message.failed);
}

void CacheAgent::granted(Message& message, LineState state) {
  Transaction& transaction = transactions_.at(message.tag);
  transaction.granted = state;
  if (transaction.doing == Doing::kUpgrade) {
    if (levels_.find(transaction.line).state ==
        LineState::
            kInvalid) {  // the shared copy has left meanwhile: ownership is granted, and the data are missing
      launch(transaction, transaction.waiting.front(), LineState::kInvalid);
      return;
    }
    levels_.set_state(transaction.line, LineState::kClean);
    serve_waiting(transaction, false);
    conclude(transaction);
    return;
  }
  if (!transaction.data_in) return;
  transaction.waiting.front().account = transaction.completion_account;  // what the read waited for last
  finish_read(transaction, false);
}

void CacheAgent::finish_read(Transaction& transaction, bool failed) {
  if (!failed) {
    fill(transaction.line, transaction.granted);
    if (prefetch_ && !transaction.prefetch) prefetch_->filled(transaction.line);
  }
  serve_waiting(transaction, failed);
  conclude(transaction);
}

// Serves those that wait, in order, up to the first that needs more than what was granted.
void CacheAgent::serve_waiting(Transaction& transaction, bool failed) {
  const NodeId target = transaction.target;
  const std::uint16_t hops = transaction.waiting.front().message.hops;
  while (!transaction.waiting.empty()) {
    Request& request = transaction.waiting.front();
    if (!failed) {
      const CacheLevels::Place place = levels_.find(transaction.line);
      if (!serves(request, place.state)) return;
      if (&request != transaction.prefetch) perform(request, place.level);
    }
    transaction.waiting.pop();
    request.target = target;
    request.failed = failed;
    request.message.hops = hops;
    if (&request == transaction.prefetch) {
      transaction.prefetch = nullptr;
      end_prefetch(request);
      continue;
    }
    if (request.kind == AccessKind::kAtomic && !failed) {
      operate(transaction, request);
      return;
    }
    answer(request);
  }
}

// The end of what was under way: now a snoop that waited is answered, and those go on that wait for more. An atomic operation
// keeps the line to its own end.
void CacheAgent::conclude(Transaction& transaction) {
  if (transaction.doing == Doing::kOperate) return;
  transaction.doing = Doing::kNothing;
  if (transaction.asked) return;
  if (transaction.snoop) {
    Snoop& snoop = *std::exchange(transaction.snoop, nullptr);
    transaction.snoop_account.charge(Segment::kSnoop, now());
    answer_snoop(snoop, transaction.line, &transaction);
    if (transaction.doing != Doing::kNothing) return;
  }
  if (transaction.miss && !transaction.waiting.empty()) {
    serve_waiting(transaction, false);
    if (transaction.doing != Doing::kNothing) return;
  }
  if (transaction.waiting.empty()) {
    close(transaction);
    return;
  }
  if (!transaction.miss) {  // a line that was on its way out, and is wanted again
    IntrusiveQueue<Request> waiting = transaction.waiting;
    close(transaction);
    while (!waiting.empty()) {
      retry(waiting.pop());
    }
    return;
  }
  launch(transaction, transaction.waiting.front(), levels_.find(transaction.line).state);
}

void CacheAgent::close(Transaction& transaction) {
  if (transaction.listed) lines_.remove(transaction.line);
  const bool miss = transaction.miss;
  transactions_.give_back(transaction);
  if (!miss) return;
  --misses_;
  while (!outside_.empty() && misses_ < *mshrs_) {
    Request& request = outside_.pop();
    if (outside_.empty()) registers_.leave(*this);
    retry(request);
  }
}

void CacheAgent::completed(Message& message) {
  Transaction& transaction = transactions_.at(message.tag);
  if (transaction.doing == Doing::kWrite || transaction.doing == Doing::kAtomic) {
    Request& request = transaction.waiting.pop();
    const bool memory = !message.failed && transaction.home != transaction.target;
    request.target = memory ? transaction.target : message.source;
    request.failed = message.failed;
    answer(request);
  } else {
    --evictions_;
    if (transaction.evict.account) --snooped_out_;
    if (transaction.doing == Doing::kWriteBack) {
      if (window_open_ && message.size > 0) ++counts_.write_backs;
      const bool memory = transaction.home != transaction.target;
      client_.written_back(memory ? transaction.target : message.source, message.size);
    }
  }
  conclude(transaction);
}

// ---- Lines that leave

void CacheAgent::fill(LineAddress line, LineState state) {
  levels_.fill(line, state, gone_);
  occupy(now(), fill_time_);
  evict_gone();
}

void CacheAgent::evict_gone() {
  for (const CacheLevels::Gone& each : gone_) {
    note_gone(each.line);
    evict(each.line, each.state);
  }
  gone_.clear();
}

void CacheAgent::evict(LineAddress line, LineState state) {
  const bool dirty = state == LineState::kDirty;
  if (operations_ > 0 && operates_on(line)) return;  // it leaves at their end
  if (!dirty && !(coherent_ && notifies_)) return;
  const auto place = endpoint().fabric().map.find(line.address());
  ensure(place.has_value(), "a cached line that no region holds");
  // What leaves passes the pipeline that requests pass, and so keeps its place among them.
  const Time ready = now() + pipeline_;
  if (!place->coherent()) {
    if (!dirty) return;
    Transaction& transaction = transactions_.take();  // not listed: the line may be asked for again at once
    transaction.line = line;
    transaction.target = place->target;
    transaction.home = place->home;
    transaction.protocol = &cxl_mem_;
    send_eviction(transaction, Doing::kWriteBack, LineState::kInvalid, ready, nullptr);
    return;
  }
  Transaction* const under_way = lines_.find(line);
  if (under_way && !dirty)
    return;  // it asks for more than it has lost, or its copy was to stay after a write-back
  ensure(!under_way || under_way->doing == Doing::kNothing, "a dirty line with something under way");
  Transaction& transaction = under_way ? *under_way : open(line, *place);
  if (!dirty && window_open_) ++counts_.clean_evictions;
  send_eviction(transaction, dirty ? Doing::kWriteBack : Doing::kCleanEvict, LineState::kInvalid, ready,
                nullptr);
}

void CacheAgent::send_eviction(Transaction& transaction, Doing doing, LineState keeps, Time ready,
                               Account* account) {
  ++evictions_;
  if (account) ++snooped_out_;
  transaction.doing = doing;
  transaction.evict = {};
  transaction.evict.account = account;
  transaction.protocol->evict(transaction, keeps, ready);
}

// ---- Snoops

void CacheAgent::snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) {
  Snoop& snoop = snoops_.take();
  snoop.message = &message;
  snoop.purpose = purpose;
  snoop.protocol = &protocol;
  const Time looked_up = std::max(now(), busy_until_) + levels_.access_time(levels_.count());
  message.charge(Segment::kSnoop, looked_up);
  endpoint().kernel().schedule(looked_up, endpoint().source(), *this, kSnoop, payload_of(snoop));
}

void CacheAgent::look_up(Snoop& snoop) {
  const Handling handling(*this, *snoop.message);
  const std::uint32_t lines = std::max<std::uint32_t>(snoop.message->lines, 1);
  snoop.lines_left = lines;
  LineAddress line = LineAddress::of(snoop.message->address);
  for (std::uint32_t i = 0; i < lines; ++i, line = line.next()) snoop_line(snoop, line);
}

void CacheAgent::snoop_line(Snoop& snoop, LineAddress line) {
  if (window_open_) ++counts_.lines_snooped;
  Transaction* const under_way = lines_.find(line);
  // What asks for no copy may be before or behind: that does not matter.
  if (!under_way || under_way->doing == Doing::kWrite || under_way->doing == Doing::kAtomic) {
    answer_snoop(snoop, line, nullptr);
    return;
  }
  Transaction& transaction = *under_way;
  ensure(!transaction.snoop, "two snoops for a line");
  transaction.snoop_account = {};
  transaction.snoop_account.mark = now();
  if (snoop.protocol->defers(transaction, snoop)) {
    transaction.snoop = &snoop;
    if (transaction.asked && window_open_) ++counts_.conflicts;
    return;
  }
  answer_snoop(snoop, line, &transaction);
}

void CacheAgent::answer_snoop_first(Transaction& transaction) {
  answer_snoop(*std::exchange(transaction.snoop, nullptr), transaction.line, &transaction);
}

// `transaction` is that of the line, if it has one.
void CacheAgent::answer_snoop(Snoop& snoop, LineAddress line, Transaction* transaction) {
  const Account* const account = transaction ? &transaction->snoop_account : nullptr;
  if (transaction && transaction->doing == Doing::kWriteBack) {  // its data have not been asked for yet
    const LineState left = left_of(LineState::kDirty, snoop);
    if (left != LineState::kDirty) transaction->doing = Doing::kCleanEvict;
    snoop.forwards = true;
    if (left != LineState::kDirty) forwarded(line);
    line_answered(snoop, LineState::kDirty, left == LineState::kDirty ? left : LineState::kInvalid, account);
    return;
  }
  const LineState held = levels_.find(line).state;
  const LineState left = left_of(held, snoop);
  if (held == LineState::kInvalid) {
    line_answered(snoop, held, left, account);
    return;
  }
  Time ready = now();
  if (left == LineState::kInvalid) {
    note_gone(line);
    if (window_open_) ++counts_.lines_lost;
    ready = occupy(now(), clear_time_);
  }
  if (left != held) levels_.set_state(line, left);
  snoop.ready = std::max(snoop.ready, ready);
  if (held != LineState::kDirty || snoop.protocol->forwards_data()) {
    snoop.forwards = held == LineState::kDirty;
    if (snoop.forwards && left != LineState::kDirty) forwarded(line);
    line_answered(snoop, held, left, account);
    return;
  }
  // The home hears of the snoop's end once it has the data: the classes of BIRsp and MemWr have no order.
  if (!transaction) {
    transaction = &open(line, place_of(*this, 0, line.address()));
    transaction->snoop_account.mark = now();
  }
  transaction->snoop = &snoop;
  transaction->snoop_account.charge(Segment::kSnoop, ready);
  send_eviction(*transaction, Doing::kWriteBack, left, ready, &transaction->snoop_account);
}

// Data that leave with the answer to a snoop are written to memory by the home: a write-back like any other.
void CacheAgent::forwarded(LineAddress line) {
  if (window_open_) ++counts_.write_backs;
  client_.written_back(endpoint().fabric().map.find(line.address())->target, kLineBytes);
}

// The line answered last is what the snoop waited for.
void CacheAgent::line_answered(Snoop& snoop, LineState was, LineState left, const Account* account) {
  Message& message = *snoop.message;
  snoop.was = more_of(snoop.was, was);
  snoop.left = more_of(snoop.left, left);
  if (--snoop.lines_left > 0) return;
  if (account && message.account) message.account->join(*account);
  const Time ready = std::max(now(), snoop.ready);
  message.charge(Segment::kSnoop, ready);
  const Snoop answered = snoop;
  snoops_.give_back(snoop);
  answered.protocol->respond(answered, ready);
}

// ---- For people

std::string CacheAgent::line_state(LineAddress line) const {
  const Transaction* const transaction = lines_.find(line);
  const std::string held{name_of(levels_.find(line).state)};
  return transaction ? held + transaction->described() : held;
}

void CacheAgent::open_window(Time /*now*/) {
  window_open_ = true;
  if (prefetch_) prefetch_->open_window();
}

void CacheAgent::close_window(Time /*now*/) {
  window_open_ = false;
  if (prefetch_) prefetch_->close_window();
}

std::vector<MeasureInfo> CacheAgent::measures() {
  return joined(CacheCounts::measures(), PrefetchCounts::measures());
}

void CacheAgent::report(MeasureSink& sink) const {
  counts_.report(coherent_, sink);
  if (prefetch_) prefetch_->counts().report(sink);
}

}  // namespace cxloom

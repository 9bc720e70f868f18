#include "coherence/external/agent.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "component/component_time.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

namespace {

bool writes_back(const Request& request) { return request.kind == AccessKind::kFlush && request.brings; }

/// What it writes past all caches is in no copy.
bool leaves_copies(Doing doing) { return doing != Doing::kWrite && doing != Doing::kAtomic; }

/// A request of the transaction is without its answer.
bool asks(const CacheTransaction& transaction) { return transaction.doing != Doing::kNothing; }

}  // namespace

ExternalCache::ExternalCache(Endpoint& endpoint, CacheClient& client)
    : Agent(endpoint), client_(client), protocols_(*this, *this, ReadState::kAny) {
  endpoint.system_context().caches.push_back(&endpoint);
  endpoint.send_as_ready();
}

Time ExternalCache::now() const { return endpoint().now(); }

LineState ExternalCache::granted(LineAddress line) const {
  const LineState state = granted_.of(line);
  if (state != LineState::kInvalid) return state;
  return place_of(*this, 0, line.address()).coherent() ? LineState::kInvalid : LineState::kClean;
}

// ---- Requests

void ExternalCache::access(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  CacheTransaction* const under_way = lines_.find(line);
  CacheTransaction& transaction = under_way ? *under_way : open(line);
  // A write-back whose data a snoop has taken leaves the notice that the line has gone.
  if (writes_back(request) && leaving_.came(line)) request.brings = false;
  transaction.waiting.push(request);
  if (!under_way) launch(transaction);
}

CacheTransaction& ExternalCache::open(LineAddress line) {
  const AddressMap::DecodedAddress place = place_of(*this, 0, line.address());
  CacheTransaction& transaction = transactions_.take();
  transaction.begin(line, place, protocols_.of(place, endpoint().id()));
  lines_.add(transaction);
  return transaction;
}

// Asks for what the first of its requests wants.
void ExternalCache::launch(CacheTransaction& transaction) {
  Request& request = transaction.waiting.front();
  if (request.account.mark() < now()) request.charge(Segment::kMshr, now());
  transaction.data_in = false;
  transaction.granted = LineState::kInvalid;
  const LineState held = granted_.of(transaction.line);
  if (request.kind == AccessKind::kFlush) {
    granted_.set(transaction.line, LineState::kInvalid);
    // A write-back of what the home knows nothing of is a write like any other: others may have copies.
    const bool owned = held == LineState::kClean || !transaction.coherent;
    if (request.brings && owned) return evict(transaction, request, Doing::kWriteBack);
    if (!request.brings && (!transaction.coherent || held == LineState::kInvalid))
      return answer_at_once(transaction);
    if (!request.brings) return evict(transaction, request, Doing::kCleanEvict);
    transaction.doing = Doing::kWrite;
  } else if (request.kind == AccessKind::kRead) {
    if (!request.keeps) return ask_current(transaction, request);
    transaction.doing = Doing::kRead;
  } else if (request.kind == AccessKind::kWrite && request.keeps) {
    if (request.brings && (held == LineState::kClean || !transaction.coherent))
      return answer_at_once(transaction);
    const bool upgrades = request.brings && held == LineState::kShared;
    transaction.doing = !transaction.coherent ? Doing::kRead : upgrades ? Doing::kUpgrade : Doing::kOwn;
  } else {
    granted_.set(transaction.line, LineState::kInvalid);
    transaction.doing = request.kind == AccessKind::kAtomic ? Doing::kAtomic : Doing::kWrite;
  }
  transaction.protocol->ask(transaction, request);
}

void ExternalCache::ask_current(CacheTransaction& transaction, Request& request) {
  transaction.doing = Doing::kCurrent;
  const AddressMap::DecodedAddress place = place_of(*this, request.id, request.address);
  const bool by_cxl_cache = place.coherence == Coherence::kHdmH;
  request.message.completion = nullptr;
  if (place.coherent() && !by_cxl_cache) request.message.snp = SnpType::kSnpCur;
  send_request(*this, request, place, by_cxl_cache ? Opcode::kRdCurr : Opcode::kMemRd, request.address,
               request.size, transaction.index);
}

void ExternalCache::evict(CacheTransaction& transaction, Request& request, Doing doing) {
  transaction.doing = doing;
  transaction.evict = {};
  transaction.evict.account = &request.account;
  transaction.protocol->evict(transaction, LineState::kInvalid, request.account.mark());
}

// Nothing has to be asked for. It is answered in an event of its own: whoever has made it is still at it.
void ExternalCache::answer_at_once(CacheTransaction& transaction) {
  transaction.doing = Doing::kOperate;
  const Time at = std::max(transaction.waiting.front().account.mark(), now());
  endpoint().kernel().schedule(at, endpoint().source(), *this, 0, payload_of(transaction));
}

// A snoop may have taken meanwhile what it was to have, or be about to: what the outside holds is its own no
// more.
void ExternalCache::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  auto& transaction = object_of<CacheTransaction>(payload);
  const bool owns = transaction.waiting.front().kind == AccessKind::kWrite;
  const bool taken = transaction.handed_out || granted_.of(transaction.line) != LineState::kClean;
  if (owns && transaction.coherent && taken) {
    transaction.doing = Doing::kNothing;
    if (!transaction.handed_out) launch(transaction);  // else behind the snoop
    return client_.go_on();
  }
  answer(transaction, 0);
  conclude(transaction);
  client_.go_on();
}

// ---- Answers

void ExternalCache::receive(Message& message) {
  endpoint().release(message, now());
  switch (message.channel) {
    case Channel::kS2MBISnp: protocols_.cxl_mem.receive(message); break;
    case Channel::kH2DReq:
    case Channel::kH2DRsp: protocols_.cxl_cache.receive(message); break;  // a WritePull is its sender's
    case Channel::kD2HReq: protocols_.cxl_bias.receive(message); break;
    default: transaction(message.tag).protocol->receive(message); break;
  }
  client_.go_on();
}

void ExternalCache::data_came(Message& message) {
  CacheTransaction& reader = transaction(message.tag);
  if (reader.doing == Doing::kAtomic || reader.doing == Doing::kCurrent) return completed(message);
  reader.data_in = true;
  if (!reader.coherent) reader.granted = LineState::kClean;
  if (message.failed || reader.home == reader.target) reader.target = message.source;
  if (message.failed || reader.granted != LineState::kInvalid) finish_read(reader, message.failed);
}

void ExternalCache::granted(Message& message, LineState state) {
  CacheTransaction& asked = transaction(message.tag);
  asked.granted = state;
  if (asked.doing == Doing::kUpgrade) {
    if (granted_.of(asked.line) == LineState::kInvalid) {  // a snoop has taken the copy: its data are missing
      asked.doing = Doing::kOwn;
      asked.granted = LineState::kInvalid;
      asked.protocol->ask(asked, asked.waiting.front());
      return;
    }
    granted_.set(asked.line, LineState::kClean);
    answer(asked, 0);
    conclude(asked);
    return;
  }
  if (!asked.data_in) return;
  asked.waiting.front().account = asked.completion_account;  // what the read waited for last
  finish_read(asked, false);
}

void ExternalCache::finish_read(CacheTransaction& transaction, bool failed) {
  Request& request = transaction.waiting.front();
  request.failed = failed;
  if (!failed && transaction.coherent) granted_.set(transaction.line, transaction.granted);
  answer(transaction, failed ? std::uint16_t{0} : request.message.size);
  conclude(transaction);
}

void ExternalCache::completed(Message& message) {
  CacheTransaction& ended = transaction(message.tag);
  if (message.account == &ended.snoop_account) {  // what a snoop has asked for is in memory
    ended.doing = Doing::kNothing;
    client_.written_back(ended.home == ended.target ? message.source : ended.target, message.size);
    line_answered(ended, LineState::kDirty, granted_.of(ended.line));
    return;
  }
  if (ended.waiting.empty()) return carried(ended, message);
  Request& request = ended.waiting.front();
  request.failed = message.failed;
  if (message.failed || ended.home == ended.target) ended.target = message.source;
  if (&message == &ended.evict) {
    request.message.hops = message.hops;
    request.message.opcode = message.opcode;
  }
  answer(ended, message.size);
  conclude(ended);
}

/// Answers the first of its requests, which has exchanged so many bytes with memory.
void ExternalCache::answer(CacheTransaction& transaction, std::uint16_t bytes) {
  Request& request = transaction.waiting.pop();
  request.target = bytes > 0 || transaction.doing != Doing::kOperate ? transaction.target : endpoint().id();
  request.message.size = request.failed ? std::uint16_t{0} : bytes;
  if (request.account.mark() < now()) request.charge(Segment::kMshr, now());
  client_.answered(request);
}

// The end of what was under way. A snoop that has waited for it goes to the outside behind its answer.
void ExternalCache::conclude(CacheTransaction& transaction) {
  transaction.doing = Doing::kNothing;
  if (transaction.asked || transaction.handed_out) return;
  if (transaction.snoop) {
    transaction.snoop_account.charge(Segment::kSnoop, now());
    hand_out(transaction);
  } else if (transaction.waiting.empty()) {
    lines_.remove(transaction);
    transactions_.give_back(transaction);
  } else {
    launch(transaction);
  }
}

// ---- Snoops

void ExternalCache::snooped(Message& message, SnoopFor purpose, HomeProtocol& protocol) {
  const ObservedScope handling(*this, message);
  CacheSnoop& snoop = snoops_.take();
  snoop.message = &message;
  snoop.purpose = purpose;
  snoop.protocol = &protocol;
  message.charge(Segment::kSnoop, now());
  const std::uint32_t lines = std::max<std::uint32_t>(message.lines, 1);
  snoop.lines_left = lines;
  LineAddress line = LineAddress::of(message.address);
  for (std::uint32_t i = 0; i < lines; ++i, line = line.next()) snoop_line(snoop, line);
}

void ExternalCache::snoop_line(CacheSnoop& snoop, LineAddress line) {
  CacheTransaction* const under_way = lines_.find(line);
  CacheTransaction& transaction = under_way ? *under_way : open(line);
  ensure(!transaction.snoop, "two snoops for a line");
  transaction.snoop_account = {};
  transaction.snoop_account.open(now());
  transaction.snoop = &snoop;
  const Doing doing = transaction.doing;
  // A transaction without a copy may be before or behind: that does not matter.
  const bool without_copy = doing == Doing::kNothing || doing == Doing::kWrite || doing == Doing::kAtomic ||
                            doing == Doing::kCurrent || doing == Doing::kOperate;
  if (without_copy || !snoop.protocol->defers(transaction, snoop)) hand_out(transaction);
}

// What is on its way out is outside no more: the snoop is answered for it here.
void ExternalCache::hand_out(CacheTransaction& transaction) {
  if (transaction.doing == Doing::kWriteBack) {  // its data have not been asked for yet
    CacheSnoop& snoop = *transaction.snoop;
    transaction.doing = Doing::kCleanEvict;
    snoop.forwards = true;
    client_.written_back(transaction.target, kLineBytes);
    line_answered(transaction, LineState::kDirty, LineState::kInvalid);
    return;
  }
  if (transaction.doing == Doing::kCleanEvict)
    return line_answered(transaction, LineState::kInvalid, LineState::kInvalid);
  ensure(outside_ != nullptr, "a snoop of a cache outside, which nobody is");
  transaction.handed_out = true;
  outside_->snooped(outside_snoops_.add(&transaction), transaction.line, transaction.snoop->purpose);
}

LineState ExternalCache::snoop_answered(std::uint64_t number, LineState held) {
  if (!outside_snoops_.find(number)) {
    throw InputError({"no snoop of that number is outside",
                      std::to_string(number),
                      "the number of a snoop that was handed out and is not answered",
                      {}});
  }
  CacheTransaction& transaction = *outside_snoops_.remove(number);
  transaction.handed_out = false;
  const LineState left = leave(transaction, held);
  client_.go_on();
  return left;
}

/// A write-back that was given while the snoop was outside brings the line's data: they go with the answer.
bool ExternalCache::absorb_write_back(CacheTransaction& transaction) {
  return !asks(transaction) && (absorb_waiting(transaction) || leaving_.take(transaction.line));
}

// The notice is left that the line has gone.
bool ExternalCache::absorb_waiting(CacheTransaction& transaction) {
  if (transaction.waiting.empty()) return false;
  for (Request* request = &transaction.waiting.front(); request; request = request->next) {
    if (!writes_back(*request)) continue;
    request->brings = false;
    return true;
  }
  return false;
}

// What a write-back has given up meanwhile is outside no more.
LineState ExternalCache::leave(CacheTransaction& transaction, LineState held) {
  CacheSnoop& snoop = *transaction.snoop;
  transaction.snoop_account.charge(Segment::kSnoop, now());
  const bool gone = absorb_write_back(transaction);
  if (gone) held = LineState::kDirty;
  const bool stays = !gone && leaves_copies(transaction.doing);
  const LineState left = stays ? left_of(held, snoop) : LineState::kInvalid;
  granted_.set(transaction.line, left == LineState::kDirty ? LineState::kClean : left);
  if (held == LineState::kDirty && !snoop.protocol->forwards_data()) {
    write_snooped(transaction, left);
    return left;
  }
  if (held == LineState::kDirty) {
    snoop.forwards = true;
    if (left != LineState::kDirty) client_.written_back(transaction.target, kLineBytes);
  }
  line_answered(transaction, held, left);
  return left;
}

// The home hears of the snoop's end once it has the data: the classes of BIRsp and MemWr have no order. With
// an access under way, which the home has put behind the snoop, the data have a transaction of their own.
// Nothing else begins for the line until it ends.
void ExternalCache::write_snooped(CacheTransaction& transaction, LineState left) {
  CacheTransaction* writer = &transaction;
  if (asks(transaction)) {
    writer = &transactions_.take();
    writer->begin(transaction.line, place_of(*this, 0, transaction.line.address()), *transaction.protocol);
    writer->granted = left;
    transaction.handed_out = true;
  }
  writer->doing = Doing::kWriteBack;
  writer->evict = {};
  writer->evict.account = &transaction.snoop_account;
  writer->protocol->evict(*writer, left, now());
}

/// The data of a snoop that met an access under way are in memory.
void ExternalCache::carried(CacheTransaction& writer, const Message& message) {
  CacheTransaction& transaction = *lines_.find(writer.line);
  const LineState left = writer.granted;
  client_.written_back(writer.home == writer.target ? message.source : writer.target, message.size);
  transactions_.give_back(writer);
  transaction.handed_out = false;
  line_answered(transaction, LineState::kDirty, left);
}

// The line answered last is what the snoop waited for.
void ExternalCache::line_answered(CacheTransaction& transaction, LineState was, LineState left) {
  CacheSnoop& snoop = *std::exchange(transaction.snoop, nullptr);
  snoop.was = more_of(snoop.was, was);
  snoop.left = more_of(snoop.left, left);
  if (--snoop.lines_left == 0) {
    Message& message = *snoop.message;
    const ObservedScope handling(*this, message);
    if (message.account) message.account->join(transaction.snoop_account);
    const CacheSnoop answered = snoop;
    snoops_.give_back(snoop);
    answered.protocol->respond(answered, now());
  }
  if (!asks(transaction)) conclude(transaction);
}

// ---- For people

std::string ExternalCache::line_state(LineAddress line) const {
  const CacheTransaction* const transaction = lines_.find(line);
  const std::string held{name_of(granted_.of(line))};
  return transaction ? held + transaction->described() : held;
}

}  // namespace cxloom

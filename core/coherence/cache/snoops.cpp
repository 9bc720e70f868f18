#include "coherence/cache/snoops.hpp"

#include <algorithm>
#include <utility>

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

Time CacheSnoops::now() const { return agent_.endpoint().now(); }

void CacheSnoops::take(Message& message, SnoopFor purpose, HomeProtocol& protocol) {
  CacheSnoop& snoop = snoops_.take();
  snoop.message = &message;
  snoop.purpose = purpose;
  snoop.protocol = &protocol;
  const CacheLevels& levels = lines_.levels();
  const Time looked_up = std::max(now(), lines_.busy_until()) + levels.access_time(levels.count());
  message.charge(Segment::kSnoop, looked_up);
  Endpoint& endpoint = agent_.endpoint();
  endpoint.kernel().schedule(looked_up, endpoint.source(), agent_, wake_, payload_of(snoop));
}

void CacheSnoops::look_up(CacheSnoop& snoop) {
  const ObservedScope handling(agent_, *snoop.message);
  const std::uint32_t lines = std::max<std::uint32_t>(snoop.message->lines, 1);
  snoop.lines_left = lines;
  LineAddress line = LineAddress::of(snoop.message->address);
  for (std::uint32_t i = 0; i < lines; ++i, line = line.next()) snoop_line(snoop, line);
}

// Its home has taken back all lines since it sent the snoop: those that the cache has by now are new.
bool CacheSnoops::is_in_vain(const CacheSnoop& snoop) const {
  return in_vain_ && in_vain_->covers(snoop.message->source, snoop.message->pushes);
}

void CacheSnoops::snoop_line(CacheSnoop& snoop, LineAddress line) {
  ++counts_->lines_snooped;
  if (is_in_vain(snoop)) [[unlikely]]
    return line_answered(snoop, LineState::kInvalid, LineState::kInvalid, nullptr);
  CacheTransaction* const under_way = lines_.under_way(line);
  // A transaction without a copy may be before or behind: that does not matter.
  if (!under_way || under_way->doing == Doing::kWrite || under_way->doing == Doing::kAtomic) {
    answer(snoop, line, nullptr);
    return;
  }
  CacheTransaction& transaction = *under_way;
  if (transaction.snoop && is_in_vain(*transaction.snoop)) [[unlikely]] {
    CacheSnoop& earlier = *std::exchange(transaction.snoop, nullptr);
    line_answered(earlier, LineState::kInvalid, LineState::kInvalid, nullptr);
  }
  ensure(!transaction.snoop, "two snoops for a line");
  transaction.snoop_account = {};
  transaction.snoop_account.open(now());
  if (snoop.protocol->defers(transaction, snoop)) {
    transaction.snoop = &snoop;
    if (transaction.asked) ++counts_->conflicts;
    return;
  }
  answer(snoop, line, &transaction);
}

void CacheSnoops::answer_waiting(CacheTransaction& transaction) {
  transaction.snoop_account.charge(Segment::kSnoop, now());
  answer_first(transaction);
}

void CacheSnoops::answer_first(CacheTransaction& transaction) {
  transaction.snooped_first = true;
  transaction.snooped = transaction.snoop->message->pushes;
  answer(*std::exchange(transaction.snoop, nullptr), transaction.line, &transaction);
}

// `transaction` is that of the line, if it has one.
void CacheSnoops::answer(CacheSnoop& snoop, LineAddress line, CacheTransaction* transaction) {
  const Account* const account = transaction ? &transaction->snoop_account : nullptr;
  if (transaction && transaction->doing == Doing::kWriteBack) {  // its data have not been asked for yet
    const LineState left = left_of(LineState::kDirty, snoop);
    if (left != LineState::kDirty) transaction->doing = Doing::kCleanEvict;
    snoop.forwards = true;
    if (left != LineState::kDirty) forwarded(line);
    line_answered(snoop, LineState::kDirty, left == LineState::kDirty ? left : LineState::kInvalid, account);
    return;
  }
  const LineState held = lines_.find(line).state;
  const LineState left = left_of(held, snoop);
  if (held == LineState::kInvalid) {
    line_answered(snoop, held, left, account);
    return;
  }
  Time ready = now();
  if (left == LineState::kInvalid) {
    lines_.drop(line);
    ++counts_->lines_lost;
    ready = lines_.occupy(now(), clear_time_);
  } else if (left != held) {
    lines_.set_state(line, left);
  }
  snoop.ready = std::max(snoop.ready, ready);
  if (held != LineState::kDirty || snoop.protocol->forwards_data()) {
    snoop.forwards = held == LineState::kDirty;
    if (snoop.forwards && left != LineState::kDirty) forwarded(line);
    line_answered(snoop, held, left, account);
    return;
  }
  // The home hears of the snoop's end once it has the data: the classes of BIRsp and MemWr have no order.
  if (!transaction) {
    transaction = &lines_.open(line, place_of(agent_, 0, line.address()));
    transaction->snoop_account = {};
    transaction->snoop_account.open(now());
  }
  transaction->snoop = &snoop;
  transaction->snoop_account.charge(Segment::kSnoop, ready);
  lines_.send_eviction(*transaction, Doing::kWriteBack, left, ready, &transaction->snoop_account);
}

// Data that leave with the answer to a snoop are written to memory by the home: a write-back like any other.
void CacheSnoops::forwarded(LineAddress line) {
  ++counts_->write_backs;
  client_.written_back(agent_.endpoint().system_context().map->find(line.address())->target, kLineBytes);
}

// The line answered last is what the snoop waited for.
void CacheSnoops::line_answered(CacheSnoop& snoop, LineState was, LineState left, const Account* account) {
  Message& message = *snoop.message;
  snoop.was = more_of(snoop.was, was);
  snoop.left = more_of(snoop.left, left);
  if (--snoop.lines_left > 0) return;
  if (account && message.account) message.account->join(*account);
  const Time ready = std::max(now(), snoop.ready);
  message.charge(Segment::kSnoop, ready);
  const CacheSnoop answered = snoop;
  snoops_.give_back(snoop);
  answered.protocol->respond(answered, ready);
}

}  // namespace cxloom

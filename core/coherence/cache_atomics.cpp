// Atomic operations. In the cache the line is here alone, and stays until the operation's end: snoops and further accesses wait
// for the transaction that stands for it, and a victim leaves behind it. At the home the cache has nothing of the line. docs/model/atomics.md has the closed forms.
#include <utility>

#include "coherence/cache_agent.hpp"
#include "component/component_time.hpp"
#include "kernel/payload.hpp"

namespace cxloom {

// The line is written already, as by a write. With the line granted, snoops wait as for a read that is under way.
void CacheAgent::operate(Transaction& transaction, Request& request) {
  if (request.account.mark < now()) request.charge(Segment::kMshr, now());
  request.charge(Segment::kCache, request.account.mark + atomic_time_);
  transaction.doing = Doing::kOperate;
  transaction.granted = LineState::kClean;
  transaction.data_in = true;
  transaction.operation = &request;
  ++operations_;
  if (window_open_) ++counts_.atomics;
  endpoint().kernel().schedule(request.account.mark, endpoint().source(), *this, kOperated,
                               payload_of(transaction));
}

void CacheAgent::operated(Transaction& transaction) {
  --operations_;
  transaction.doing = Doing::kNothing;
  transaction.granted = LineState::kInvalid;
  transaction.data_in = false;
  client_.answered(*std::exchange(transaction.operation, nullptr));
  const LineAddress line = transaction.line;
  if (levels_.find(line).state == LineState::kInvalid) {  // others have taken its place meanwhile
    evict(line, LineState::kDirty);
    if (transaction.doing == Doing::kWriteBack) {
      // A home that has snooped takes the data from here, before it looks at the write-back.
      if (transaction.snoop && !transaction.snoop->protocol->defers(transaction, *transaction.snoop))
        answer_snoop_first(transaction);
      return;
    }
  }
  conclude(transaction);
}

// Its own copy goes first. A clean one leaves without a notice: the request says that there is none. The way of a modified one is
// charged to the request, which is launched again when it is complete.
void CacheAgent::ask_home(Transaction& transaction, Request& request, LineState held) {
  if (held != LineState::kInvalid) {
    levels_.set_state(transaction.line, LineState::kInvalid);
    note_gone(transaction.line);
  }
  if (held == LineState::kDirty) {
    send_eviction(transaction, Doing::kWriteBack, LineState::kInvalid, request.account.mark,
                  &request.account);
    return;
  }
  transaction.doing = Doing::kAtomic;
  if (window_open_) ++counts_.atomics_of_home;
  transaction.protocol->ask(transaction, request);
}

bool CacheAgent::operates_on(LineAddress line) const {
  const Transaction* const under_way = lines_.find(line);
  return under_way && under_way->doing == Doing::kOperate;
}

}  // namespace cxloom

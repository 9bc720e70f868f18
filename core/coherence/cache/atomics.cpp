#include "coherence/cache/atomics.hpp"

#include <utility>

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

// With the line granted, snoops wait as for a read that is under way.
void CacheAtomics::operate(CacheTransaction& transaction, Request& request) {
  Endpoint& endpoint = agent_.endpoint();
  if (request.account.mark() < endpoint.now()) request.charge(Segment::kMshr, endpoint.now());
  request.charge(Segment::kCache, request.account.mark() + atomic_time_);
  transaction.doing = Doing::kOperate;
  transaction.granted = LineState::kClean;
  transaction.data_in = true;
  transaction.operation = &request;
  lines_.hold();
  ++counts_->atomics;
  endpoint.kernel().schedule(request.account.mark(), endpoint.source(), agent_, wake_,
                             payload_of(transaction));
}

void CacheAtomics::end(CacheTransaction& transaction) {
  lines_.let_go();
  transaction.doing = Doing::kNothing;
  transaction.granted = LineState::kInvalid;
  transaction.data_in = false;
  client_.answered(*std::exchange(transaction.operation, nullptr));
  const LineAddress line = transaction.line;
  if (lines_.find(line).state == LineState::kInvalid) {  // others have taken its place meanwhile
    lines_.evict(line, LineState::kDirty);
    if (transaction.doing == Doing::kWriteBack) {
      // A home that has snooped takes the data from here, before it looks at the write-back.
      if (transaction.snoop && !transaction.snoop->protocol->defers(transaction, *transaction.snoop))
        cache_.answer_snoop_first(transaction);
      return;
    }
  }
  cache_.conclude(transaction);
}

// Its own copy goes first. A clean one leaves without a notice: the request says that there is none. The way
// of a modified one is charged to the request, which is launched again when it is complete.
void CacheAtomics::ask_home(CacheTransaction& transaction, Request& request, LineState held) {
  if (held != LineState::kInvalid) lines_.drop(transaction.line);
  if (held == LineState::kDirty) {
    lines_.send_eviction(transaction, Doing::kWriteBack, LineState::kInvalid, request.account.mark(),
                         &request.account);
    return;
  }
  transaction.doing = Doing::kAtomic;
  ++counts_->atomics_of_home;
  transaction.protocol->ask(transaction, request);
}

}  // namespace cxloom

// The snoops of homes at a cache: each is looked up, its lines give up what they must, and its answer waits
// for the line that is answered last.
#pragma once

#include "coherence/cache/client.hpp"
#include "coherence/cache/counts.hpp"
#include "coherence/cache/grants_in_vain.hpp"
#include "coherence/cache/home_protocol.hpp"
#include "coherence/cache/lines.hpp"
#include "coherence/cache/transaction.hpp"
#include "component/agent.hpp"
#include "kernel/pool.hpp"

namespace cxloom {

class CacheSnoops {
 public:
  /// `agent` gets an event of the kind `wake` with a snoop that is to be looked up.
  CacheSnoops(Time clear_time, Agent& agent, std::uint8_t wake, CacheLines& lines, CacheClient& client,
              Windowed<CacheCounts>& counts)
      : clear_time_(clear_time),
        agent_(agent),
        wake_(wake),
        lines_(lines),
        client_(client),
        counts_(counts) {}

  /// Homes may fail, or presume the cache dead. To be said before the run.
  void bear_losses(const GrantsInVain& in_vain) { in_vain_ = &in_vain; }
  /// One has come: it is looked up behind what keeps the arrays busy.
  void take(Message& message, SnoopFor purpose, HomeProtocol& protocol);
  /// It has been looked up: answers for each line, now or when the line's transaction is served.
  void look_up(CacheSnoop& snoop);
  /// Answers the one that waits for a transaction, which has waited for it up to now.
  void answer_waiting(CacheTransaction& transaction);
  /// Answers the one that waits for a transaction before that.
  void answer_first(CacheTransaction& transaction);

 private:
  void snoop_line(CacheSnoop& snoop, LineAddress line);
  void answer(CacheSnoop& snoop, LineAddress line, CacheTransaction* transaction);
  void forwarded(LineAddress line);
  void line_answered(CacheSnoop& snoop, LineState was, LineState left, const Account* account);
  bool is_in_vain(const CacheSnoop& snoop) const;
  Time now() const;

  Time clear_time_;
  Agent& agent_;
  std::uint8_t wake_;
  CacheLines& lines_;
  CacheClient& client_;
  Windowed<CacheCounts>& counts_;
  Pool<CacheSnoop> snoops_;
  const GrantsInVain* in_vain_ = nullptr;  // null: nothing fails
};

}  // namespace cxloom
